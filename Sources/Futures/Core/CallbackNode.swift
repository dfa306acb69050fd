public import Synchronization

/// One consumer of a future, as an element of the list of its consumers.
///
/// Subclasses hold what the consumer needs: a user's closure, a transform and the state that it resolves, a continuation.
/// What a delivery does is a stored closure and not an overridden method: a method of a generic class runs unspecialised,
/// while a closure that is made in inlinable code is specialised with the caller, which made a `map` stage twice as fast.
@_fixed_layout
@usableFromInline
package class CallbackNode: @unchecked Sendable {
  // @unchecked: the links are protected by the lock of the list's owner, and what a subclass holds is used by one thread only:
  // the one that moved `status` to `finished`, or took the node from the list.

  /// How a consumer gets what it waits for.
  @usableFromInline
  package enum Kind: UInt8 {
    /// Runs during the delivery, on the delivering thread.
    case inline
    /// As `inline`, and is told at once when its source turns out to never resolve.
    case input
    /// Is handed to a queue during the delivery, and can be removed until the queue starts it.
    case queued
    /// Is handed to an execution context that may run it at once, and can be removed until it is started.
    case custom
    /// Listens to the progress; is in the list of its listeners, and with the others only when the state has ended.
    case progress
    /// Only wakes somebody who waits: a suspended task, a blocked thread. Runs no user code, unless the future is broken and
    /// the diagnostics have a handler.
    case waiter

    /// Whether a delivery may run user code of unknown depth, so that deliveries must not nest without limit.
    var mayRunInline: Bool { self == .inline || self == .input || self == .custom || self == .progress }
  }

  /// Where a consumer is in its life.
  ///
  /// Changes under the lock of its state, but for `submitted` to `finished`.
  @usableFromInline
  package enum Status: UInt8, AtomicRepresentable {
    /// In no list yet. Next is any other.
    case new
    /// In the list of a pending or delivering future. Next is `silent`, `submitted` or `finished`.
    case listed
    /// Still to get the result, but not counted among those who want it: cancelled, without being able to say so (R16).
    /// Next is `submitted` or `finished`.
    case silent
    /// Handed to its execution context, which has not started it; or waiting for a broken future. Next is `finished`.
    case submitted
    /// Started, removed or withdrawn. Final.
    case finished
  }

  @usableFromInline
  package typealias Delivery = (_ node: CallbackNode, _ state: AnySharedState, _ loop: DeliveryLoop) -> Void

  /// The neighbours in a circular list, which holds one retain of each of its nodes.
  ///
  /// `nil` outside a list.
  @exclusivity(unchecked) fileprivate final var next: Unmanaged<CallbackNode>?
  @exclusivity(unchecked) fileprivate final var previous: Unmanaged<CallbackNode>?

  /// Called once, outside the lock, when the state has been resolved or broken; the state says which.
  @usableFromInline final let deliver: Delivery

  @usableFromInline final let status = Atomic<Status>(.new)
  @usableFromInline final let kind: Kind

  @inlinable
  init(kind: Kind, deliver: @escaping Delivery) {
    self.kind = kind
    self.deliver = deliver
  }

  /// Whether it is in a list.
  ///
  /// Under the lock of the list's owner.
  final var isListed: Bool { next != nil }

  /// Gives up what the consumer captured.
  ///
  /// Called at most once, by whoever moved `status` to `finished` without running it.
  @usableFromInline
  func release() {}

  /// The state that will never be resolved, since the one that this consumer waits for will not.
  func stateToOrphan() -> AnySharedState? { nil }

  /// Resolves what it derives from `source` at once, where that is possible; called when it has been submitted, and was
  /// cancelled but cannot say so.
  @usableFromInline
  func resolveWithoutContext(from source: AnySharedState) {}

  /// Whether the caller is the one who may start, or drop, a submitted consumer.
  ///
  /// Relaxed: the exchange only picks a winner. What the winner reads was published by the context or the lock through
  /// which it got the node.
  @usableFromInline
  final func claimSubmitted() -> Bool {
    status.compareExchange(expected: .submitted, desired: .finished, ordering: .relaxed).exchanged
  }
}

/// A list of consumers in order of attachment: append, remove and take the first in O(1), without an allocation.
///
/// Not thread-safe; its owner's lock protects it. Unmanaged references, because counting each look at a neighbour took a
/// third of the time of an attachment: the list owns one retain of each node in it, and hands it out with the node.
@usableFromInline
struct CallbackList {
  private var first: Unmanaged<CallbackNode>?

  @usableFromInline
  init() { first = nil }

  @usableFromInline
  var isEmpty: Bool { first == nil }

  /// The consumer, if there is exactly one.
  var only: CallbackNode? {
    guard let first, first._withUnsafeGuaranteedRef({ $0.next })?.toOpaque() == first.toOpaque() else { return nil }
    return first.takeUnretainedValue()
  }

  /// The consumer that was appended first.
  var firstNode: CallbackNode? { first?.takeUnretainedValue() }

  /// Puts `node` before the others.
  mutating func prepend(_ node: CallbackNode) {
    append(node)
    first = Unmanaged.passUnretained(node)
  }

  /// Puts the first consumer after the others.
  mutating func rotate() {
    first = first?._withUnsafeGuaranteedRef { $0.next }
  }

  /// Appends all of `others`, which is empty afterwards.
  ///
  /// O(1).
  mutating func append(_ others: inout CallbackList) {
    guard let theirs = others.first else { return }
    others.first = nil
    guard let first else {
      first = theirs
      return
    }
    let last = first._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    let theirLast = theirs._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    last._withUnsafeGuaranteedRef { $0.next = theirs }
    theirs._withUnsafeGuaranteedRef { $0.previous = last }
    theirLast._withUnsafeGuaranteedRef { $0.next = first }
    first._withUnsafeGuaranteedRef { $0.previous = theirLast }
  }

  mutating func append(_ node: CallbackNode) { append(Unmanaged.passRetained(node)) }

  /// Appends a node, with the reference that the list owns from now on.
  mutating func append(_ node: Unmanaged<CallbackNode>) {
    guard let first else {
      node.link(previous: node, next: node)
      self.first = node
      return
    }
    let last = first._withUnsafeGuaranteedRef { $0.previous }.unsafelyUnwrapped
    node.link(previous: last, next: first)
    last._withUnsafeGuaranteedRef { $0.next = node }
    first._withUnsafeGuaranteedRef { $0.previous = node }
  }

  /// Takes `node`, which must be in this list, out of it; the caller gets the list's reference.
  mutating func remove(_ node: CallbackNode) -> CallbackNode {
    remove(Unmanaged.passUnretained(node))
  }

  mutating func popFirst() -> CallbackNode? {
    guard let first else { return nil }
    return remove(first)
  }

  private mutating func remove(_ node: Unmanaged<CallbackNode>) -> CallbackNode {
    let (previous, next) = node._withUnsafeGuaranteedRef {
      ($0.previous.unsafelyUnwrapped, $0.next.unsafelyUnwrapped)
    }
    if next.toOpaque() == node.toOpaque() {
      first = nil
    } else {
      previous._withUnsafeGuaranteedRef { $0.next = next }
      next._withUnsafeGuaranteedRef { $0.previous = previous }
      if first?.toOpaque() == node.toOpaque() { first = next }
    }
    node.link(previous: nil, next: nil)
    return node.takeRetainedValue()
  }

  /// Takes out all consumers, and gives them `status`.
  ///
  /// O(n).
  mutating func takeAll(as status: CallbackNode.Status) -> CallbackList {
    defer { first = nil }
    var node = first
    while let current = node {
      node = current._withUnsafeGuaranteedRef {
        $0.status.store(status, ordering: .relaxed)
        return $0.next
      }
      if node?.toOpaque() == first?.toOpaque() { break }
    }
    return self
  }

  /// All consumers, which stay where they are.
  ///
  /// O(n).
  var all: [CallbackNode] {
    var nodes: [CallbackNode] = []
    var node = first
    while let current = node {
      nodes.append(current.takeUnretainedValue())
      node = current._withUnsafeGuaranteedRef { $0.next }
      if node?.toOpaque() == first?.toOpaque() { break }
    }
    return nodes
  }

  /// How many consumers there are.
  ///
  /// O(n).
  var count: Int { all.count }

  /// Takes out the consumers that only wait, in order, and gives them `status`.
  ///
  /// O(n).
  mutating func takeWaiters(as status: CallbackNode.Status) -> CallbackList {
    var waiters = CallbackList()
    var others = CallbackList()
    while let node = popFirst() {
      if node.kind == .waiter {
        node.status.store(status, ordering: .relaxed)
        waiters.append(node)
      } else {
        others.append(node)
      }
    }
    self = others
    return waiters
  }
}

extension Unmanaged<CallbackNode> {
  fileprivate func link(previous: Self?, next: Self?) {
    _withUnsafeGuaranteedRef {
      $0.previous = previous
      $0.next = next
    }
  }
}
