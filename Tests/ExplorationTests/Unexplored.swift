internal import Dispatch

/// A value under a lock that the explorer does not see, for the tests themselves.
final class Unexplored<Value>: @unchecked Sendable {
  // @unchecked: `value` is used while `isFree` is taken.
  private let isFree = DispatchSemaphore(value: 1)
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    isFree.wait()
    defer { isFree.signal() }
    return body(&value)
  }
}
