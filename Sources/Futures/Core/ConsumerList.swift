/// A list of consumers in order of attachment: append, remove and take the first in O(1), without an allocation.
///
/// Not thread-safe: the lock of its owner protects it. The list owns one reference to each consumer, and hands it over with
/// the consumer. It does not own a promise's state in its own list.
///
/// Unmanaged: counting references to neighbours took a third of an attachment.
@usableFromInline
struct ConsumerList {
  /// The consumer at the front; `nil` if the list is empty.
  private(set) var first: Unmanaged<Consumer>?

  @usableFromInline
  init() { first = nil }

  var isEmpty: Bool { first == nil }

  /// The consumer, if there is exactly one, and it keeps the source running.
  var only: Consumer? {
    guard !onlyWantsResults, let first, first._withUnsafeGuaranteedRef({ $0.next })?.toOpaque() == first.toOpaque()
    else { return nil }
    return first.takeUnretainedValue()
  }

  /// Whether no consumer keeps the source running: result-only consumers are at the front, so the last one tells.
  var onlyWantsResults: Bool {
    guard let first else { return true }
    return first._withUnsafeGuaranteedRef { first in
      first.previous.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.currentStatus == .resultOnly }
    }
  }

  /// Inserts a consumer at the front, with the reference that the list owns from now on.
  mutating func prepend(_ consumer: Unmanaged<Consumer>) {
    append(consumer)
    first = consumer
  }

  /// Moves the first consumer to the end.
  mutating func rotate() {
    first = first?._withUnsafeGuaranteedRef { $0.next }
  }

  /// Moves all consumers of `others` to the end of this list.
  ///
  /// O(1).
  mutating func append(_ others: inout ConsumerList) {
    guard let otherFirst = others.first else { return }
    others.first = nil
    guard let first else {
      first = otherFirst
      return
    }
    let last = first._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    let otherLast = otherFirst._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    last._withUnsafeGuaranteedRef { $0.next = otherFirst }
    otherFirst._withUnsafeGuaranteedRef { $0.previous = last }
    otherLast._withUnsafeGuaranteedRef { $0.next = first }
    first._withUnsafeGuaranteedRef { $0.previous = otherLast }
  }

  /// Appends a consumer, with the reference that the list owns from now on.
  mutating func append(_ consumer: Unmanaged<Consumer>) {
    guard let first else {
      consumer.link(previous: consumer, next: consumer)
      self.first = consumer
      return
    }
    let last = first._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    consumer.link(previous: last, next: first)
    last._withUnsafeGuaranteedRef { $0.next = consumer }
    first._withUnsafeGuaranteedRef { $0.previous = consumer }
  }

  /// Removes a consumer, which must be in this list.
  /// - Returns: The list's reference to the consumer.
  mutating func remove(_ consumer: Consumer) -> Unmanaged<Consumer> {
    let consumer = Unmanaged.passUnretained(consumer)
    remove(consumer)
    return consumer
  }

  /// Puts a consumer into the place of `old`, with the reference that the list owns from now on.
  /// - Returns: The list's reference to `old`.
  mutating func replace(_ old: Consumer, by consumer: Unmanaged<Consumer>) -> Unmanaged<Consumer> {
    let next = Unmanaged.passUnretained(old)
    let previous = old.previous.unsafelyUnwrapped
    consumer.link(previous: previous, next: next)
    previous._withUnsafeGuaranteedRef { $0.next = consumer }
    old.previous = consumer
    if first?.toOpaque() == next.toOpaque() { first = consumer }
    return remove(old)
  }

  /// Removes the first consumer.
  /// - Returns: The list's reference to the consumer; `nil` if the list is empty.
  mutating func popFirst() -> Unmanaged<Consumer>? {
    guard let first else { return nil }
    remove(first)
    return first
  }

  /// Removes a consumer, which must be in this list.
  mutating func remove(_ consumer: Unmanaged<Consumer>) {
    let (previous, next) = consumer._withUnsafeGuaranteedRef {
      ($0.previous.unsafelyUnwrapped, $0.next.unsafelyUnwrapped)
    }
    if next.toOpaque() == consumer.toOpaque() {
      first = nil
    } else {
      previous._withUnsafeGuaranteedRef { $0.next = next }
      next._withUnsafeGuaranteedRef { $0.previous = previous }
      if first?.toOpaque() == consumer.toOpaque() { first = next }
    }
    consumer.link(previous: nil, next: nil)
  }

  /// Removes all consumers, and marks them as submitted.
  ///
  /// O(n).
  mutating func takeAll() -> ConsumerList {
    defer { first = nil }
    forEach { $0._withUnsafeGuaranteedRef { $0.enter(.submitted) } }
    return self
  }

  /// All consumers, in order; they stay in the list.
  ///
  /// O(n).
  var all: [Consumer] {
    var consumers: [Consumer] = []
    forEach { consumers.append($0.takeUnretainedValue()) }
    return consumers
  }

  /// The first consumers, in order; they stay in the list.
  ///
  /// O(`limit`).
  /// - Parameter limit: The number of consumers to return.
  /// - Returns: The consumers; whether these are all.
  func prefix(_ limit: Int) -> (consumers: [Consumer], areAll: Bool) {
    var consumers: [Consumer] = []
    var next = first
    while let consumer = next, consumers.count < limit {
      consumers.append(consumer.takeUnretainedValue())
      next = consumer._withUnsafeGuaranteedRef { $0.next }
      if next?.toOpaque() == first?.toOpaque() { next = nil }
    }
    return (consumers, next == nil)
  }

  private func forEach(_ body: (Unmanaged<Consumer>) -> Void) {
    var next = first
    while let consumer = next {
      body(consumer)
      next = consumer._withUnsafeGuaranteedRef { $0.next }
      if next?.toOpaque() == first?.toOpaque() { break }
    }
  }

  /// Removes the waiters, in order, and marks them as finished.
  ///
  /// O(n).
  mutating func takeWaiters() -> ConsumerList {
    var waiters = ConsumerList()
    var others = ConsumerList()
    while let reference = popFirst() {
      reference._withUnsafeGuaranteedRef { consumer in
        if consumer.kind == .waiter {
          consumer.enter(.finished)
          waiters.append(reference)
        } else {
          others.append(reference)
        }
      }
    }
    self = others
    return waiters
  }
}

extension Unmanaged<Consumer> {
  fileprivate func link(previous: Self?, next: Self?) {
    _withUnsafeGuaranteedRef {
      $0.previous = previous
      $0.next = next
    }
  }
}
