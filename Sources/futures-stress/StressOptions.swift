/// The parsed command line.
struct StressOptions {
  var seed = UInt64.random(in: 0...999_999)
  var rounds = 10
  var futures = 10_000
  var threads = 8
  var operations = 20_000
  /// The duration of a soak of the bridges, instead of rounds.
  var soak: Duration?
  /// The file for the picture of a soak.
  var plot: String?
  var isHelp = false

  /// A mistake in the command line, as a sentence.
  struct Mistake: Error {
    let sentence: String
  }

  static let help = """
    Usage: swift run -c release futures-stress [options]

      --seed N        Selects the operations of each thread, but not their order in time. By default it is random, and printed.
      --rounds N      The number of rounds. The default is \(StressOptions.defaults.rounds).
      --futures N     The number of pending futures. The default is \(StressOptions.defaults.futures).
      --threads N     The number of threads. The default is \(StressOptions.defaults.threads).
      --operations N  The number of operations of each thread in a round. The default is \(StressOptions.defaults.operations).
      --load          100,000 futures from 8 threads.
      --soak SECONDS  Instead of rounds: awaits, callbacks, streams, progress, tasks, tokens, transfers from a server that
                      misbehaves, processes and notifications, for that time. Memory, threads and descriptors must not grow.
      --plot FILE     Draws the memory, threads and descriptors of a soak to FILE, an SVG picture.
      --help          Print this.

    Each operation takes one of the futures and attaches a callback, removes one, derives a future and cancels it, awaits,
    cancels an await, follows, reports progress, resolves, cancels, or drops the promise. At the end of a round all promises
    are resolved or dropped. Then each callback must have run once or have been removed, each await must have ended, each
    closure must have been released, and no memory must be left.

    Exit code: 0 if all checks passed, 1 if one failed, 2 if the options are wrong.
    """

  private static let defaults = StressOptions()

  init() {}

  init(_ arguments: [String]) throws(Mistake) {
    var arguments = arguments[...]
    func number(_ option: String) throws(Mistake) -> Int {
      guard let number = arguments.popFirst().flatMap({ Int($0) }), number > 0 else {
        throw Mistake(sentence: "\(option) needs a number above zero.")
      }
      return number
    }
    while let option = arguments.popFirst() {
      switch option {
      case "--seed": seed = UInt64(try number(option))
      case "--rounds": rounds = try number(option)
      case "--futures": futures = try number(option)
      case "--threads": threads = try number(option)
      case "--operations": operations = try number(option)
      case "--load": (futures, threads, operations) = (100_000, 8, 100_000)
      case "--soak": soak = .seconds(try number(option))
      case "--plot":
        plot = arguments.popFirst()
        if plot == nil { throw Mistake(sentence: "--plot needs the name of a file, such as soak.svg.") }
      case "--help", "-h": isHelp = true
      default: throw Mistake(sentence: "\(option) is not an option; --help lists them.")
      }
    }
    if plot != nil, soak == nil { throw Mistake(sentence: "--plot draws a soak; add --soak SECONDS.") }
  }

  /// The options that repeat this run.
  var arguments: String {
    "--seed \(seed) --rounds \(rounds) --futures \(futures) --threads \(threads) --operations \(operations)"
  }
}
