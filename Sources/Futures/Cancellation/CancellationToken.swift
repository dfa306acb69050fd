/// Cancels its `CancellationToken`.
///
/// Pass `token` to cancellable work, and keep the source. Any thread can call any method.
///
/// ```swift
/// let source = CancellationTokenSource()
/// let page = load(url).cancelled(by: source.token)
/// source.cancel()  // runs the producer's onCancel handlers, and `page` fails with CancellationError
/// ```
///
/// A source that goes away uncancelled releases its handlers without running them. A linked source stays linked while
/// its token exists, or a handler is registered with that token. Then it detaches from its parents (R14).
public final class CancellationTokenSource: Sendable {
  private let state: CancellationState
  private let links: [Registration]

  /// Makes a source that only its own methods cancel.
  ///
  /// Two allocations.
  public init() {
    state = CancellationState()
    links = []
  }

  /// Makes a source that is also cancelled when one of `tokens` is.
  ///
  /// Cancelling the source does not cancel `tokens`. O(n), as is its release.
  /// - Parameter tokens: The tokens to follow. If one of them is already cancelled, so is the new source.
  public convenience init(linkedTo tokens: CancellationToken...) {
    self.init(linkedTo: tokens)
  }

  init(linkedTo tokens: [CancellationToken]) {
    let tokens = tokens.filter { $0.state != nil }  // nothing cancels a token without a state
    let state = CancellationState(parentCount: tokens.isEmpty ? nil : tokens.count)  // `nil`: not linked
    self.state = state
    // A link (a `LinkedHandler` without a handler) cancels `state`, at once if the token is already cancelled, and keeps the
    // token's linked source. A link that can no longer cancel lowers the count; at 0, handlers of `state` release this source.
    links = tokens.compactMap { $0.state?.register(LinkedHandler(nil, of: $0.linkedSource, linking: state)) }
  }

  deinit {
    // Removing a link can release another source, and so on. The trampoline bounds the depth, and can run this after `self` ends.
    Trampoline.current.runOrDefer { [state, links] in
      for link in links { link.remove() }
      state.end()
    }
  }

  /// The token that this source cancels.
  ///
  /// No allocation.
  public var token: CancellationToken {
    CancellationToken(state: state, linkedSource: links.isEmpty ? nil : self)
  }

  /// Whether the source was cancelled.
  ///
  /// O(1), no lock.
  public var isCancelled: Bool { state.isTriggered }

  /// Cancels the token, and runs its handlers in the order of registration, on this thread.
  ///
  /// The handlers have run when the outermost `cancel()` of this thread returns. Usually that is this call. Cancellations by
  /// handlers nest 64 deep, and deeper handlers run later, so that a chain of sources takes no stack (R6, R13). A handler can
  /// register, remove and cancel. It runs outside every lock.
  /// - Returns: Whether this was the first cancellation. A second, concurrent call does not wait for the first.
  @discardableResult
  public func cancel() -> Bool { state.trigger() }

  /// Cancels the token after `delay`; an earlier cancellation frees the timer.
  ///
  /// A second call adds a second timer, and the earliest timer cancels. So a call never postpones the cancellation.
  /// Releasing the source does not stop the timer while the token exists, or a handler is registered.
  /// - Parameters:
  ///   - delay: The delay. Zero or less cancels at once.
  ///   - context: Its clock measures the delay, and it runs the handlers.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func cancel(after delay: Duration, on context: ExecutionContext = .global()) {
    state.trigger(afterNanoseconds: delay.nanoseconds, on: context)
  }
}

/// Shows whether an operation is cancelled, and runs handlers at the cancellation.
///
/// Copies of a token are equal. Passing a token on costs nothing. A removed handler leaves nothing behind.
public struct CancellationToken: Sendable, Hashable {
  @usableFromInline package let state: CancellationState?

  /// The linked source, which must live as long as the token, because it gets cancellations from its parents.
  @usableFromInline let linkedSource: CancellationTokenSource?

  @usableFromInline
  package init(state: CancellationState?, linkedSource: CancellationTokenSource? = nil) {
    self.state = state
    self.linkedSource = linkedSource
  }

  /// A token that is never cancelled.
  public static var none: Self { CancellationToken(state: nil) }

  /// A token that is already cancelled.
  public static let cancelled: Self = {
    let state = CancellationState()
    state.trigger()
    return CancellationToken(state: state)
  }()

  /// Whether the token was cancelled.
  ///
  /// O(1), no lock.
  public var isCancelled: Bool { state?.isTriggered ?? false }

  /// Throws if the token was cancelled.
  /// - Throws: `CancellationError`.
  public func throwIfCancelled() throws(CancellationError) {
    if isCancelled { throw CancellationError() }
  }

  /// Runs `handler` once when the token is cancelled, on the thread that cancels it.
  ///
  /// If the token is already cancelled, `handler` runs at once on this thread. O(1), two allocations, one of them the
  /// closure. The handler and its captures are released when it has run, was removed, or can no longer run.
  /// - Returns: A registration that removes the handler. `remove()` is O(1), never waits, and returns whether it kept
  ///   the handler from running.
  @inlinable
  @discardableResult
  public func register(_ handler: __owned @escaping @Sendable () -> Void) -> Registration {
    // A token without a state is never cancelled. No retain and release of the state: the token keeps the state alive.
    guard let state = state.map(Unmanaged.passUnretained) else { return .finished }
    // The handler of a linked source keeps that source, which needs its links to the parents until the handler has run.
    let consumer =
      linkedSource == nil ? CancellationHandler(consume handler) : LinkedHandler(consume handler, of: linkedSource)
    return withExtendedLifetime(self) { state._withUnsafeGuaranteedRef { $0.register(consumer) } }
  }

  /// Returns a token that is cancelled as soon as one of `tokens` is.
  ///
  /// O(n). It detaches from `tokens` when no copy of it exists, and no handler is registered with it.
  /// - Parameter tokens: The tokens to follow. Without tokens, the new token is never cancelled.
  /// - Returns: The token.
  public static func any(_ tokens: CancellationToken...) -> CancellationToken {
    if tokens.contains(where: \.isCancelled) { return .cancelled }
    let tokens = Set(tokens.filter { $0 != .none })
    guard tokens.count > 1 else { return tokens.first ?? .none }
    return CancellationTokenSource(linkedTo: Array(tokens)).token
  }

  /// Returns whether the same source cancels both tokens.
  public static func == (left: Self, right: Self) -> Bool { left.state === right.state }

  /// Hashes the identity of the source.
  public func hash(into hasher: inout Hasher) { hasher.combine(state.map(ObjectIdentifier.init)) }
}
