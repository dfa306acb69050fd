import Dispatch
import Foundation

/// Runs random operations on many threads, and checks that every callback runs exactly once; `--help` lists the options.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@main
struct FuturesStress {
  static func main() {
    do {
      let options = try StressOptions(Array(CommandLine.arguments.dropFirst()))
      if options.isHelp { return print(StressOptions.help) }
      Thread.detachNewThread {
        let hasPassed =
          if let seconds = options.sharing {
            // All rows run, also after one has failed.
            !SharingRow.all.map { $0.run(threads: options.threads, seconds: Double(seconds)) }.contains(false)
          } else {
            GraphRounds(options: options).run()
          }
        fflush(nil)  // `exit` flushes too, but LeakSanitizer can end the process before
        exit(hasPassed ? 0 : 1)
      }
      // Runs the work of the main queue.
      dispatchMain()
    } catch {
      FileHandle.standardError.write(Data("futures-stress: \(error.sentence)\n".utf8))
      exit(2)
    }
  }
}
