// The floors use `Mutex` and `Atomic`, as a user's code would. On Apple platforms these need macOS 15, and the package
// does not. There, the types below replace them: each use costs one more allocation, and each operation of `Atomic`
// takes a lock.
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
#else
  // For all files of the program.
  @_exported import Synchronization
#endif
