import Foundation

/// Runs random operations on many threads, and checks that every callback runs exactly once.
///
/// `--help` lists the options.
@main
struct FuturesStress {
  static func main() async {
    do {
      let options = try StressOptions(Array(CommandLine.arguments.dropFirst()))
      if options.isHelp { return print(StressOptions.help) }
      guard let duration = options.soak else { exit(run(options) ? 0 : 1) }
      let soak = Soak(seed: options.seed, duration: duration, plot: options.plot)
      exit(try await soak.run() ? 0 : 1)
    } catch let mistake as StressOptions.Mistake {
      FileHandle.standardError.write(Data("futures-stress: \(mistake.sentence)\n".utf8))
      exit(2)
    } catch {
      FileHandle.standardError.write(Data("futures-stress: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs all rounds, and prints their outcome.
  /// - Returns: Whether all checks passed.
  private static func run(_ options: StressOptions) -> Bool {
    print(
      "seed \(options.seed): \(options.rounds) rounds, \(options.futures) futures, \(options.threads) threads, "
        + "\(options.operations) operations each"
    )
    let clock = ContinuousClock()
    let start = clock.now
    var memory = RoundMemory()
    for number in 0..<options.rounds {
      let ledger = Ledger()
      let round = Round(options, number: number, ledger: ledger)
      let growth = memory.growth { round.run() }
      var faults = ledger.faults
      if number > 1, growth > RoundMemory.tolerance {
        faults.append("\(growth) bytes more than after the rounds before")
      }
      guard faults.isEmpty else {
        print("round \(number) of seed \(options.seed) failed: \(faults.joined(separator: "; "))")
        print("Again: futures-stress \(options.arguments)")
        return false
      }
      print("round \(number): \(ledger.summary)")
    }
    print("nothing was lost in \(start.duration(to: clock.now))")
    return true
  }
}
