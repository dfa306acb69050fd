public import Synchronization

/// Cancels: the side of a `CancellationToken` that says so.
///
/// Give `token` to whatever can be cancelled, and keep the source. Any thread may call any method.
///
/// ```swift
/// let source = CancellationTokenSource()
/// let page = load(url).cancelled(by: source.token)
/// source.cancel()  // the producer of `page` is told, and `page` fails with CancellationError
/// ```
///
/// When a source goes away uncancelled, its handlers are released unrun. One that is linked to others stays linked as long as
/// somebody has its token, or a handler is registered with that, and detaches from them after that (R14).
public final class CancellationTokenSource: Sendable {
  private let state: CancellationState
  private let links: [Registration]

  /// Makes a source that only `cancel` cancels.
  ///
  /// Two allocations.
  public init() {
    state = CancellationState()
    links = []
  }

  /// Makes a source that is also cancelled when one of `tokens` is; cancelling it does not cancel them.
  ///
  /// O(n), as is letting go of it.
  /// - Parameter tokens: The tokens to follow. If one is cancelled already, so is this source.
  public convenience init(linkedTo tokens: CancellationToken...) {
    self.init(linkedTo: tokens)
  }

  init(linkedTo tokens: [CancellationToken]) {
    let tokens = tokens.filter { $0.state != nil }
    let state = CancellationState(parentCount: tokens.count)
    self.state = state
    if tokens.contains(where: \.isCancelled) {
      links = []
      state.trigger()
    } else {
      links = tokens.compactMap { token in
        token.state?.register(LinkNode(linking: state, to: token.linkedSource))
      }
    }
  }

  deinit {
    // Letting go of a link may let go of another source, and so on, so this nests only as deep as deliveries do.
    let (state, links) = (state, links)
    let release = {
      for link in links { link.remove() }
      state.end()
    }
    let loop = DeliveryLoop.current
    guard loop.enter() else { return loop.defer(release) }
    release()
    loop.leave()
  }

  /// The token that this source cancels.
  ///
  /// No allocation.
  public var token: CancellationToken {
    CancellationToken(state: state, linkedSource: links.isEmpty ? nil : self)
  }

  /// Whether it was cancelled.
  ///
  /// O(1), no lock.
  public var isCancelled: Bool { state.isTriggered }

  /// Cancels it: all handlers that were registered before run, in order of registration, on this thread, before this returns.
  ///
  /// A handler may register, remove and cancel. No lock is held while it runs.
  /// - Returns: Whether this was the first time; a second, concurrent call does not wait for the first.
  @discardableResult
  public func cancel() -> Bool { state.trigger() }

  /// Cancels it when `delay` is over, unless it is cancelled before; then the timer is freed.
  ///
  /// Dropping the source does not stop that, as long as somebody has the token or a handler is registered.
  /// - Parameters:
  ///   - delay: How long to wait; zero or less cancels at once.
  ///   - context: Whose clock is asked, and where the handlers run.
  public func cancel(after delay: Duration, on context: ExecutionContext = .global()) {
    state.trigger(after: delay, on: context)
  }
}

/// Tells whether, and when, something is cancelled.
///
/// Copies of a token are equal. A token costs nothing to hand on, and nothing is left of a handler that was removed.
public struct CancellationToken: Sendable, Hashable {
  @usableFromInline package let state: CancellationState?

  /// The source that must live as long as the token, because it hears from others.
  @usableFromInline let linkedSource: CancellationTokenSource?

  @usableFromInline
  package init(state: CancellationState?) { self.init(state: state, linkedSource: nil) }

  init(state: CancellationState?, linkedSource: CancellationTokenSource?) {
    self.state = state
    self.linkedSource = linkedSource
  }

  /// A token that is never cancelled.
  public static var none: Self { CancellationToken(state: nil) }

  /// A token that is cancelled.
  public static let cancelled: Self = {
    let state = CancellationState()
    state.trigger()
    return CancellationToken(state: state)
  }()

  /// Whether it was cancelled.
  ///
  /// O(1), no lock.
  public var isCancelled: Bool { state?.isTriggered ?? false }

  /// Throws if it was cancelled.
  /// - Throws: `CancellationError`.
  public func throwIfCancelled() throws(CancellationError) {
    if isCancelled { throw CancellationError() }
  }

  /// Has `handler` run when the token is cancelled: on the thread that cancels, once; at once, here, if it was cancelled before.
  ///
  /// O(1), two allocations, one of them the closure. The handler and what it captures are released when it has run, was
  /// removed, or can no longer run.
  /// - Parameter handler: What to do.
  /// - Returns: What takes the handler away again: O(1), never waits, and answers whether the handler was kept from running.
  @inlinable
  @discardableResult
  public func register(_ handler: __owned @escaping @Sendable () -> Void) -> Registration {
    let node = linkedSource == nil ? HandlerNode(consume handler) : LinkNode(consume handler, of: linkedSource)
    // Not counted: the token keeps its state alive.
    if let state = state.map(Unmanaged.passUnretained) {
      return withExtendedLifetime(self) { state._withUnsafeGuaranteedRef { $0.register(node) } }
    }
    node.status.store(.submitted, ordering: .relaxed)  // nobody else has the node yet
    node.release()
    return Registration(state: nil, node: node)
  }

  /// A token that is cancelled as soon as one of `tokens` is.
  ///
  /// O(n). It detaches from them when nobody has it any more, and no handler is registered with it.
  /// - Parameter tokens: The tokens to follow; none of them makes one that is never cancelled.
  /// - Returns: The token.
  public static func any(_ tokens: CancellationToken...) -> CancellationToken {
    if tokens.contains(where: \.isCancelled) { return .cancelled }
    let tokens = Set(tokens).subtracting([.none])
    guard tokens.count > 1 else { return tokens.first ?? .none }
    return CancellationTokenSource(linkedTo: Array(tokens)).token
  }

  /// Whether both are cancelled by the same source.
  /// - Parameters:
  ///   - left: One token.
  ///   - right: Another.
  /// - Returns: Whether they are the same.
  public static func == (left: Self, right: Self) -> Bool { left.state === right.state }

  /// Hashes the identity of the source.
  /// - Parameter hasher: The hasher to use.
  public func hash(into hasher: inout Hasher) { hasher.combine(state.map(ObjectIdentifier.init)) }
}
