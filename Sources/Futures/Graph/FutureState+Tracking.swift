// Adds entries to the table of pending futures. Each caller tests `mayTrackPendingFutures` first, which costs one load.

extension FutureState {
  /// Registers the state of a join or of a queue of items.
  @usableFromInline
  final func trackJoin() { PendingFutures.shared.add(.join, self) }

  /// Registers the state of a task, with the task's name and the file and line that started the task.
  @usableFromInline
  package final func trackTask(_ name: String?, _ fileID: StaticString, _ line: UInt) {
    PendingFutures.shared.add(.task, self, label: name, fileID: fileID.staticPointer, line: line)
  }

  /// Registers a waiter of this state, before the current task suspends for it; `task` is the name of that task.
  @usableFromInline
  package final func trackAwait(_ waiter: Consumer, of task: String?) {
    PendingFutures.shared.add(.await, waiter, label: task, source: self)
  }
}

extension StaticString {
  /// The null-terminated characters; `nil` for a string of one character, which the compiler stores without a pointer.
  package var staticPointer: UnsafePointer<UInt8>? { hasPointerRepresentation ? utf8Start : nil }
}
