// Not inlined: a delivery of one consumer needs none of this.
extension Trampoline {
  /// Notes the last consumer of `state` that this thread runs itself, if it delivers the state.
  ///
  /// Under the lock of `state`, where no object must be released. So it replaces no earlier one.
  @inline(never)
  func noteLast(_ consumer: Unmanaged<Consumer>, of state: FutureState) {
    storage.pointee.lastConsumers.append((ObjectIdentifier(state), consumer.takeUnretainedValue()))
  }

  /// Takes out the consumers of `state` that were noted since the previous call, and returns the newest; `nil` if there is none.
  func takeLast(of state: FutureState) -> Consumer? {
    if storage.pointee.lastConsumers.isEmpty { return nil }
    var newest: Consumer?
    while let index = storage.pointee.lastConsumers.lastIndex(where: { $0.state == ObjectIdentifier(state) }) {
      let consumer = storage.pointee.lastConsumers.remove(at: index).consumer
      newest = newest ?? consumer
    }
    return newest
  }
}
