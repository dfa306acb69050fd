/// A circular list of consumers in order of attachment: append, remove and take the first in O(1), without an allocation.
///
/// Result-only consumers are at its front until the state settles, the newest of them first.
///
/// Not thread-safe: the lock of its owner protects it. The list owns one reference to each consumer, and hands it over with
/// the consumer. Exception: the list of a promise's state does not own that state (invariant 5 of `FutureState`).
///
/// Unmanaged: counting references to neighbours took a third of an attachment.
@usableFromInline
struct ConsumerList: Sequence {
  @usableFromInline typealias Element = Unmanaged<Consumer>

  /// The consumer at the front; `nil` if the list is empty.
  private(set) var first: Element?

  @usableFromInline
  init() { first = nil }

  var isEmpty: Bool { first == nil }

  /// The consumer, if there is exactly one, and it keeps the source running.
  var only: Consumer? {
    guard let first, first.next == first, !onlyWantsResults else { return nil }
    return first.takeUnretainedValue()
  }

  /// Whether no consumer keeps the source running: the list is empty, or the last one, and so each one, is result-only.
  var onlyWantsResults: Bool {
    first?.previous?.isResultOnly ?? true
  }

  /// All consumers, in order, which stay in the list; O(n).
  var all: [Consumer] { map { $0.takeUnretainedValue() } }

  /// Inserts a consumer at the front, with the reference that the list owns from now on.
  mutating func prepend(_ consumer: Element) {
    // In a circle the end is just before the front.
    append(consumer)
    first = consumer
  }

  /// Moves the result-only consumers, which were cancelled but still get a result, behind the others, when the state settles.
  ///
  /// The newest is at the front. Prepending one after the other restores the order of their cancellation. O(their number).
  @inline(__always)
  mutating func moveResultOnlyToEnd() {
    guard let first, first.isResultOnly else { return }
    var resultOnly = ConsumerList()
    while let first = self.first, first.isResultOnly { resultOnly.prepend(remove(first)) }
    append(&resultOnly)
  }

  /// Moves the first consumer to the end: a listener that gets the latest progress now, behind those without it.
  mutating func rotate() { first = first?.next }

  /// Moves all consumers of `others` to the end of this list, in O(1).
  mutating func append(_ others: inout ConsumerList) {
    guard let otherFirst = others.first, let otherLast = otherFirst.previous else { return }
    others.first = nil
    guard let first, let last = first.previous else { return first = otherFirst }  // this list was empty
    last.link(to: otherFirst)
    otherLast.link(to: first)
  }

  /// Appends a consumer, with the reference that the list owns from now on.
  mutating func append(_ consumer: Element) {
    if let first {
      first.previous.unsafelyUnwrapped.link(to: consumer)
      consumer.link(to: first)
    } else {
      consumer.link(to: consumer)
      first = consumer
    }
  }

  /// Removes a consumer, which must be in this list, and returns the list's reference to it.
  @discardableResult
  mutating func remove(_ consumer: Element) -> Element {
    let next = consumer.next.unsafelyUnwrapped
    if next == consumer {
      first = nil
    } else {
      consumer.previous.unsafelyUnwrapped.link(to: next)
      if first == consumer { first = next }
    }
    (consumer.next, consumer.previous) = (nil, nil)
    return consumer
  }

  /// Puts a consumer into the place of `old`, with the reference that the list owns from now on.
  /// - Returns: The list's reference to `old`.
  mutating func replace(_ old: Element, by consumer: Element) -> Element {
    old.previous.unsafelyUnwrapped.link(to: consumer)
    consumer.link(to: old)
    if first == old { first = consumer }
    return remove(old)
  }

  /// Removes the first consumer, and returns the list's reference to it; `nil` if the list is empty.
  mutating func popFirst() -> Element? { first.map { remove($0) } }

  /// Takes all `onCancel` handlers of their list, and marks each as `submitted`: it can still be removed before it runs; O(n).
  mutating func takeAll() -> ConsumerList {
    defer { first = nil }
    for consumer in self { consumer._withUnsafeGuaranteedRef { $0.enter(.submitted) } }
    return self  // the whole list: `defer` runs after this line
  }

  /// Takes out the waiters, in order and marked as finished, for a caller that resumes them and delivers to the rest later; O(n).
  mutating func takeWaiters() -> ConsumerList {
    var (waiters, others) = (ConsumerList(), ConsumerList())
    while let consumer = popFirst() {
      if consumer._withUnsafeGuaranteedRef({ $0.kind }) == .waiter {
        consumer._withUnsafeGuaranteedRef { $0.enter(.finished) }
        waiters.append(consumer)
      } else {
        others.append(consumer)
      }
    }
    self = others
    return waiters
  }

  @usableFromInline
  struct Iterator: IteratorProtocol {
    fileprivate let first: Element?
    /// `nil` after the last consumer.
    fileprivate var upcoming: Element?

    @usableFromInline
    mutating func next() -> Element? {
      defer { upcoming = upcoming?.next == first ? nil : upcoming?.next }
      return upcoming
    }
  }

  @usableFromInline
  func makeIterator() -> Iterator { Iterator(first: first, upcoming: first) }
}

// The neighbours in a list, without counting references.
extension Unmanaged<Consumer> {
  /// Whether another thread than the delivering one attached the consumer during the delivery; under the lock.
  var isOfOtherThread: Bool { _withUnsafeGuaranteedRef { $0.currentStatus == .listedByOther } }

  fileprivate var next: Self? {
    get { _withUnsafeGuaranteedRef { $0.next } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.next = newValue } }
  }

  fileprivate var previous: Self? {
    get { _withUnsafeGuaranteedRef { $0.previous } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.previous = newValue } }
  }

  fileprivate var isResultOnly: Bool { _withUnsafeGuaranteedRef { $0.currentStatus == .resultOnly } }

  fileprivate func link(to next: Self) {
    self.next = next
    next.previous = self
  }
}

private func == (left: Unmanaged<Consumer>?, right: Unmanaged<Consumer>?) -> Bool {  // `Unmanaged` is not `Equatable`
  left?.toOpaque() == right?.toOpaque()
}
