/// The parsed command line.
struct StressOptions {
  var seed = UInt64.random(in: 0...999_999)
  var rounds = 10
  var futures = 10_000
  var threads = 8
  var operations = 20_000
  var isHelp = false

  /// A mistake in the command line, as a sentence.
  struct Mistake: Error {
    let sentence: String
  }

  static let help = """
    Usage: swift run -c release futures-stress [options]

      --seed N        Decides what each thread does, though not when. Without it: another one each time, which is printed.
      --rounds N      How often all of it is done; \(StressOptions.defaults.rounds) without it.
      --futures N     How many are in flight at once; \(StressOptions.defaults.futures).
      --threads N     How many threads are at work; \(StressOptions.defaults.threads).
      --operations N  What each thread does in each round; \(StressOptions.defaults.operations).
      --load          100,000 futures from 8 threads.
      --help          Print this.

    Each operation takes one of the futures and attaches a callback, removes one, derives a future and cancels it, awaits,
    cancels an await, follows, reports progress, resolves, cancels, or drops the promise. At the end of a round all are
    resolved or dropped. Then each callback must have run once, or have been removed and not run; each await must have
    ended; each closure must have been released; and no memory must be left.

    It ends with 0 if nothing was wrong, with 1 if something was, and with 2 if it did not understand its options.
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
      case "--help", "-h": isHelp = true
      default: throw Mistake(sentence: "\(option) is not an option; --help lists them.")
      }
    }
  }

  /// The options that repeat this run.
  var arguments: String {
    "--seed \(seed) --rounds \(rounds) --futures \(futures) --threads \(threads) --operations \(operations)"
  }
}
