import Futures

/// The rows for one type of value and one type of failure: the types of a hand-rolled future.
///
/// All calls use concrete types, so the optimizer specialises the rows as it specialises the code of a program. No row calls
/// through a protocol at run time.
enum Variant<Hand: HandFuture> {
  typealias Value = Hand.Value
  typealias Failure = Hand.Failure

  /// The end of each row's name; empty for `Int` and `any Error`.
  static var suffix: String { Value.suffix + (Failure.self == Never.self ? " Never" : "") }

  /// A limit of the time in relation to the first floor.
  static func timesFloor(_ limit: Double) -> Limit { .timesFloor(scaled(limit)) }

  /// A limit of the bytes.
  static func bytes(_ limit: Double) -> Limit { .bytes(scaled(limit)) }

  /// Scales a limit of the row with integers: strings and objects have 15 % more.
  private static func scaled(_ limit: Double) -> Double {
    Value.self == Int.self ? limit : (limit * 115).rounded() / 100
  }

  /// Makes a promise of the library.
  ///
  /// Out of line: otherwise the compiler can see that no promise outlives the loop, and remove the allocation.
  @inline(never)
  static func makePromise() -> Promise<Value, Failure> { Promise() }

  /// Makes a promise of the floor.
  @inline(never)
  static func makeHandPromise() -> HandPromise<Hand> { HandPromise() }
}
