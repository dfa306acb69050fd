public import Dispatch

/// The place where a callback or a transform runs.
///
/// A context is a value of one word. Serial contexts (`.main`, `.actor`, a serial queue) start the work of one thread in
/// order. Concurrent ones (`.global`, `.task`) only receive it in order.
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

  /// Runs on the thread that resolves the future; on a resolved future, on the thread that attaches the callback.
  ///
  /// Costs nothing: no hop and no allocation. While another thread delivers to callbacks of the same future, that thread
  /// runs the new callback too, which keeps the order of attachment. Deeply nested deliveries wait until the outermost
  /// delivery of the thread is about to return, so depth does not grow the stack. A callback that blocks, or runs an event
  /// loop, delays these deliveries.
  @inlinable
  public static var immediate: Self { Self(kind: .immediate) }

  /// Runs any closure on the main dispatch queue; `on: .main` takes closures isolated to the main actor.
  @inlinable
  public static var mainQueue: Self { .queue(.main) }

  /// Runs on `queue`.
  /// - Parameter queue: A serial queue runs callbacks in the order of attachment. A concurrent one only receives them in order.
  /// - Returns: The context.
  @inlinable
  public static func queue(_ queue: DispatchQueue) -> Self { Self(kind: .queue(queue)) }

  /// Runs on a global concurrent queue.
  /// - Parameter qos: The quality of service of the queue.
  /// - Returns: The context.
  @inlinable
  public static func global(qos: DispatchQoS.QoSClass = .default) -> Self { .queue(.global(qos: qos)) }

  /// Runs work by calling `execute`.
  ///
  /// - Parameter execute: Runs the work that it receives, now or later, on any thread. The library ignores a second run of
  ///   the same work. If `execute` drops work, the derived future that depends on it fails with `BrokenPromise` (R2a, R4).
  @inlinable
  public init(_ execute: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    self.init(kind: .custom(CustomContext(execute: execute, after: nil)))
  }

  /// Runs work by calling `execute`, and measures delays on its own clock, `after`.
  ///
  /// `after`, `delay`, `timeout` and `retry` use the clock of the context that they receive. So a context with virtual time
  /// controls them in tests.
  /// - Parameters:
  ///   - execute: Runs the work that it receives, as in `init(_:)`.
  ///   - after: Runs the work that it receives after a delay, which is more than zero. It returns a closure that cancels the
  ///     delay: the context then releases the work and never runs it. The library can call that closure at any time, on any
  ///     thread, even after the work has run.
  @inlinable
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public init(
    execute: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
    after: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void
  ) {
    self.init(
      kind: .custom(CustomContext(execute: execute, after: { delay, work in after(.nanoseconds(delay), work) }))
    )
  }

  /// As `init(execute:after:)`, with a delay in nanoseconds, and a clock that tells its time.
  package static func custom(
    execute: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
    afterNanoseconds after:
      @escaping @Sendable (_ delay: Int64, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void,
    now: (@Sendable () -> Int64)? = nil
  ) -> Self {
    Self(kind: .custom(CustomContext(execute: execute, after: after, now: now)))
  }

  /// Tells the time on the clock of the context, in nanoseconds; `nil` if that clock only measures delays.
  var clock: (@Sendable () -> Int64)? {
    if case .custom(let context) = kind, context.after != nil { return context.now }
    return Self.clockOfDispatch
  }

  /// The clock of each context that is not custom, or that is custom without a clock of its own.
  static let clockOfDispatch: @Sendable () -> Int64 = { Int64(clamping: DispatchTime.now().uptimeNanoseconds) }

  @inlinable
  var isImmediate: Bool {
    if case .immediate = kind { true } else { false }
  }

  /// The queue, or the object of a custom context, which names the context in the graph; `nil` for `immediate`.
  @usableFromInline
  var identity: AnyObject? {
    switch kind {
    case .immediate: nil
    case .queue(let queue): queue
    case .custom(let context): context
    }
  }

  /// How a consumer on this context gets its result.
  @inlinable
  var consumerKind: Consumer.Kind {
    switch kind {
    case .immediate: .inline
    case .queue: .queued
    case .custom: .custom
    }
  }

  /// Submits `work`, or runs it now if the context is immediate; a custom context can run it more than once or never.
  @inlinable
  package func execute(_ work: @escaping @Sendable () -> Void) {
    switch kind {
    case .immediate: work()
    case .queue(let queue): queue.async(execute: work)
    case .custom(let context): context.execute(work)
    }
  }

  /// Submits `work` after a delay on the clock of the context; at once if the delay is zero or less.
  ///
  /// A context without a clock of its own uses that of Dispatch. A delay of `Int64.max`, 292 years, never ends.
  /// - Returns: A closure that cancels the delay and releases the work; it does nothing once the work is submitted.
  @usableFromInline
  package func schedule(
    afterNanoseconds delay: Int64,
    _ work: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    guard delay > 0 else {
      execute(work)
      return {}
    }
    if case .custom(let context) = kind, let after = context.after { return after(delay, work) }
    if case .queue(let queue) = kind { return Timers.shared.start(afterNanoseconds: delay, on: queue, work) }
    return Timers.shared.start(afterNanoseconds: delay, on: .global()) { execute(work) }  // immediate or custom
  }
}

/// The closures of a custom context; an object, so that `ExecutionContext` is one word.
@usableFromInline
final class CustomContext: Sendable {
  @usableFromInline typealias Work = @Sendable () -> Void

  @usableFromInline let execute: @Sendable (_ work: @escaping Work) -> Void
  /// Runs work after a delay, and returns the closure that cancels the delay; `nil` for delays on the clock of Dispatch.
  @usableFromInline let after: (@Sendable (_ nanoseconds: Int64, _ work: @escaping Work) -> Work)?
  /// The time on the clock of `after`, in nanoseconds; `nil` if that clock only measures delays.
  let now: (@Sendable () -> Int64)?

  @usableFromInline
  init(
    execute: @escaping @Sendable (_ work: @escaping Work) -> Void,
    after: (@Sendable (_ nanoseconds: Int64, _ work: @escaping Work) -> Work)?,
    now: (@Sendable () -> Int64)? = nil
  ) {
    self.execute = execute
    self.after = after
    self.now = now
  }
}
