// The floors use `Mutex` and `Atomic`, as a user's code would. On Apple platforms these need macOS 15, and the package does not.
// There, these types stand for them: each use costs one allocation more, and an operation takes a lock.
#if canImport(Darwin)
  import Futures

  typealias Mutex = Locked

  final class Atomic<Value: Sendable>: Sendable {
    enum Ordering { case relaxed, acquiring, releasing }

    fileprivate let value: Locked<Value>

    init(_ value: Value) { self.value = Locked(value) }

    func load(ordering: Ordering) -> Value { value.withLock { $0 } }
    func store(_ new: Value, ordering: Ordering) { value.withLock { $0 = new } }
  }

  extension Atomic<Int> {
    func add(_ operand: Int, ordering: Ordering) { value.withLock { $0 += operand } }
  }
#endif
