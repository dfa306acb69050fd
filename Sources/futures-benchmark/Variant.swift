import Futures

/// The rows as measured with futures of one type of value and one type of failure: those of a hand-rolled future.
///
/// Everything in it is called with concrete types, so that the optimizer specialises it as it does the code of a program:
/// no row goes through a protocol at run time.
enum Variant<Hand: HandFuture> {
  typealias Value = Hand.Value
  typealias Failure = Hand.Failure

  /// What it adds to the name of a row; nothing for `Int` and `any Error`, with which the budgets were made.
  static var suffix: String { Value.suffix + (Failure.self == Never.self ? " Never" : "") }

  /// Makes one of our promises out of line, as for a producer elsewhere in a program.
  ///
  /// Else the compiler may see that no promise outlives the loop of the benchmark, and allocate none.
  @inline(never)
  static func makePromise() -> Promise<Value, Failure> { Promise() }

  /// The same for the floor.
  @inline(never)
  static func makeHandPromise() -> HandPromise<Hand> { HandPromise() }
}
