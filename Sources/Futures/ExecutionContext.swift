public import Dispatch

/// Where a callback, or a transform, runs.
///
/// A context is a value of one word. Work that is handed to one context by one thread is started in that order on serial
/// contexts (`.main`, `.actor`, a serial queue); on concurrent ones (`.global`, `.task`) it is only submitted in order.
@frozen
public struct ExecutionContext: Sendable {
  @usableFromInline
  enum Kind: Sendable {
    case immediate
    case queue(DispatchQueue)
    case custom(CustomContext)
  }

  @usableFromInline let kind: Kind

  @inlinable
  init(kind: Kind) { self.kind = kind }

  /// Runs on the thread that resolves the future, or on the one that attaches if it is resolved.
  ///
  /// Costs nothing: no hop and no allocation. While callbacks of the same future are being delivered by another thread,
  /// that thread delivers this one, too, so that the order stays that of attachment. Deliveries that nest deeply are
  /// deferred until the outermost one of the thread is about to return, so that depth costs no stack; a callback that runs
  /// a loop of its own, or blocks, holds them up until it returns.
  @inlinable
  public static var immediate: Self { Self(kind: .immediate) }

  /// Runs on the main dispatch queue, with any closure; `on: .main` is for closures that need the main actor.
  @inlinable
  public static var mainQueue: Self { .queue(.main) }

  /// Runs on `queue`.
  /// - Parameter queue: A serial queue keeps the order of attachment; on a concurrent one it is the order of submission.
  /// - Returns: The context.
  @inlinable
  public static func queue(_ queue: DispatchQueue) -> Self { Self(kind: .queue(queue)) }

  /// Runs on a global concurrent queue.
  /// - Parameter qos: The quality of service of the queue.
  /// - Returns: The context.
  @inlinable
  public static func global(qos: DispatchQoS.QoSClass = .default) -> Self { .queue(.global(qos: qos)) }

  /// Runs wherever `execute` says.
  ///
  /// - Parameter execute: Takes a piece of work and has it run, now or later, on any thread. Work that it runs a second
  ///   time does nothing. Work that it drops is released; a derived future that waits for it fails with `BrokenPromise`
  ///   (R2a, R4).
  @inlinable
  public init(_ execute: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    self.init(kind: .custom(CustomContext(execute: execute, after: nil)))
  }

  /// Runs wherever `execute` says, and measures delays by a clock of its own.
  ///
  /// Everything that takes time (`after`, `delay`, `timeout`, `retry`) asks the context that it is given; so a context with
  /// virtual time drives it in tests.
  /// - Parameters:
  ///   - execute: Takes a piece of work and has it run, as in `init(_:)`.
  ///   - after: Takes a delay, which is more than zero, and a piece of work, and has the work run when the delay is over. It
  ///     returns what cancels that: afterwards the work is to be released, and never run. Cancelling may come at any time, on
  ///     any thread, also when the work has been run.
  @inlinable
  public init(
    execute: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
    after: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void
  ) {
    self.init(kind: .custom(CustomContext(execute: execute, after: after)))
  }

  @inlinable
  var isImmediate: Bool {
    if case .immediate = kind { true } else { false }
  }

  /// The kind of a consumer that is handed to this context.
  @inlinable
  var nodeKind: CallbackNode.Kind {
    switch kind {
    case .immediate: .inline
    case .queue: .queued
    case .custom: .custom
    }
  }

  /// Has `work` run; exactly once is up to the work.
  @inlinable
  func execute(_ work: @escaping @Sendable () -> Void) {
    switch kind {
    case .immediate: work()
    case .queue(let queue): queue.async(execute: work)
    case .custom(let context): context.execute(work)
    }
  }

  /// Has `work` run after `delay`, by the clock of the context; at once if the delay is zero or less.
  ///
  /// A delay of more than 292 years never ends.
  /// - Returns: What cancels the delay, and releases the work, unless that was started.
  @usableFromInline
  package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    guard delay > .zero else {
      execute(work)
      return {}
    }
    if case .custom(let context) = kind, let after = context.after { return after(delay, work) }
    let timer = DispatchTimer(after: delay) { execute(work) }
    return { timer.cancel() }
  }
}

/// What a user's own context consists of; an object, so that a context is one word.
@usableFromInline
final class CustomContext: Sendable {
  @usableFromInline typealias Work = @Sendable () -> Void

  @usableFromInline let execute: @Sendable (_ work: @escaping Work) -> Void
  @usableFromInline let after: (@Sendable (_ delay: Duration, _ work: @escaping Work) -> Work)?

  @usableFromInline
  init(
    execute: @escaping @Sendable (_ work: @escaping Work) -> Void,
    after: (@Sendable (_ delay: Duration, _ work: @escaping Work) -> Work)?
  ) {
    self.execute = execute
    self.after = after
  }
}
