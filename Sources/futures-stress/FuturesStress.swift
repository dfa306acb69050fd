import Dispatch
import Foundation

/// Runs random operations on many threads, and checks that every callback runs exactly once.
///
/// `--help` lists the options.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@main
struct FuturesStress {
  static func main() {
    do {
      let options = try StressOptions(Array(CommandLine.arguments.dropFirst()))
      if options.isHelp { return print(StressOptions.help) }
      if let duration = options.soak {
        Task { await soak(options, for: duration) }
      } else {
        Thread.detachNewThread {
          let hasPassed = GraphRounds(options: options).run()
          fflush(nil)  // LeakSanitizer can end the process before `exit` does it
          exit(hasPassed ? 0 : 1)
        }
      }
      // Runs the work of the main queue.
      dispatchMain()
    } catch {
      stop(error.sentence, code: 2)
    }
  }

  private static func soak(_ options: StressOptions, for duration: Duration) async -> Never {
    do {
      exit(try await Soak(seed: options.seed, duration: duration, plot: options.plot).run() ? 0 : 1)
    } catch {
      stop("\(error)", code: 1)
    }
  }

  private static func stop(_ sentence: String, code: Int32) -> Never {
    FileHandle.standardError.write(Data("futures-stress: \(sentence)\n".utf8))
    exit(code)
  }
}
