/// The parsed command line.
struct StressOptions {
  var seed = UInt64.random(in: 1...999_999)
  var rounds = 10
  var threads = 3
  /// Whether each round has one large graph, instead of 50 small ones.
  var isLoad = false
  /// The duration of each row of shared objects, instead of rounds.
  var sharing: Int?
  var isHelp = false

  /// A mistake in the command line, as a sentence.
  struct Mistake: Error {
    let sentence: String
  }

  static let help = """
    Usage: swift run -c release futures-stress [options]

      --seed N        Selects the graphs and the operations of each thread, but not their order in time. By default it is
                      random, and printed. The next graph has the next seed.
      --rounds N      The number of rounds. The default is \(StressOptions.defaults.rounds).
      --threads N     The number of threads. The default is \(StressOptions.defaults.threads).
      --load          One graph of up to 100,000 futures in a round, and 50,000 operations on each of 8 threads.
      --sharing N     Instead of rounds: threads that call one shared stream, limit, cache …, N seconds for each. No call may
                      do the work of other threads: the longest takes at most 50 medians of its thread, and each thread has
                      a quarter of its fair share of calls.
      --help          Print this.

    A graph has promises, futures that random operators derive from two others, and callbacks on contexts of all kinds. Each
    operation resolves or drops a promise, cancels, attaches or removes a callback, derives, awaits, reports progress, waits,
    or moves a virtual time. At the end all promises are dropped. Then each future must have a result that the results of its
    inputs allow, each callback must have run once or have been removed, each await must have ended, and each closure and
    value must have been released. After a round no memory must be left.

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
      case "--threads": threads = try number(option)
      case "--load": (isLoad, threads) = (true, 8)  // a later `--threads` replaces the 8
      case "--sharing": sharing = try number(option)
      case "--help", "-h": isHelp = true
      default: throw Mistake(sentence: "\(option) is not an option; --help lists them.")
      }
    }
  }

  /// The number of graphs in a round.
  var graphs: Int { isLoad ? 1 : 50 }

  /// The largest size of a graph; the smallest is a tenth of it.
  var futures: Int { isLoad ? 100_000 : 44 }

  /// The options that repeat a run of graphs; `--load` comes before `--threads`, because it also sets the number of threads.
  func arguments(seed: UInt64, rounds: Int) -> String {
    "--seed \(seed) --rounds \(rounds)\(isLoad ? " --load" : "") --threads \(threads)"
  }
}
