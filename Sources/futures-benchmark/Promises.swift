import Futures

/// The rows, and the promises that they make.
///
/// All rows use `Int` and `any Error`. The calls are concrete, so the optimizer specialises them as it specialises the code
/// of a program.
enum Rows {
  typealias Value = Int
  typealias Failure = any Error

  /// Makes a promise of the library.
  ///
  /// Out of line: otherwise the compiler can see that no promise outlives the loop, and remove the allocation.
  @inline(never)
  static func makePromise() -> Promise<Value, Failure> { Promise() }

  @inline(never)
  static func makeHandPromise() -> HandPromise { HandPromise() }
}
