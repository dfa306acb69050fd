internal import CFutures
internal import Dispatch

/// The main actor as the place where a callback runs: `on: .main` takes `@MainActor` closures without any annotation.
///
/// A type of its own, so that the compiler selects the overloads with main-actor closures. It delivers through the main
/// dispatch queue. It never checks `Thread.isMainThread`, which on Linux is `false` after an async `main` has hopped (R9).
public struct MainContext: Sendable {
  /// The context outside of tests that replace the main context.
  private let unreplaced: ExecutionContext
  /// Whether a callback runs at once when the main queue is current, also with a replacement.
  private let isImmediate: Bool

  /// Runs each callback, for a context that carries task-locals.
  private var wrap: (@Sendable (_ work: () -> Void) -> Void)?

  private init(unreplaced: ExecutionContext, isImmediate: Bool) {
    self.unreplaced = unreplaced
    self.isImmediate = isImmediate
  }

  /// Returns a context that runs callbacks inside `outer`; closures of earlier `wrapped` calls run inside `outer`, too.
  func wrapped(_ outer: @escaping @Sendable (_ work: () -> Void) -> Void) -> Self {
    var context = self
    let inner = wrap
    context.wrap = { work in
      guard let inner else { return outer(work) }
      outer { inner(work) }
    }
    return context
  }

  /// The context on which callbacks run; inside `replace(with:for:)` of the test kit, the replacement.
  @usableFromInline
  package var context: ExecutionContext {
    guard let wrap else { return unwrappedContext }
    let context = unwrappedContext
    return .custom(
      execute: { work in context.execute { wrap(work) } },
      afterNanoseconds: { delay, work in context.schedule(afterNanoseconds: delay) { wrap(work) } },
      now: context.clock
    )
  }

  /// Returns a closure that runs `work` on this context, from any thread.
  package func submitting(_ work: @escaping @MainActor () -> Void) -> @Sendable () -> Void {
    // Reads the context now, as for a callback, because a test can have replaced it for the caller only.
    let context = context
    return { context.execute { MainActor.assumeIsolated { work() } } }
  }

  /// As `context`, but callbacks run without the task-locals that `wrap` sets.
  private var unwrappedContext: ExecutionContext {
    guard let replacement = Self.currentReplacement else { return unreplaced }
    guard isImmediate else { return replacement }
    return .custom(
      execute: { work in if Self.isMainQueueCurrent { work() } else { replacement.execute(work) } },
      afterNanoseconds: { delay, work in replacement.schedule(afterNanoseconds: delay, work) },
      now: replacement.clock
    )
  }

  /// Always submits to the main queue, even on the main actor.
  public static let main = MainContext(unreplaced: .mainQueue, isImmediate: false)

  /// Runs at once on the main actor; from elsewhere it submits to the main queue.
  ///
  /// So a callback attached on the main actor to a resolved future can overtake an earlier callback in the main queue.
  public static let mainImmediate = MainContext(
    unreplaced: ExecutionContext(kind: .custom(immediateOnMain)),
    isImmediate: true
  )

  /// A static reference: LeakSanitizer does not see a reference in the bits of an enum.
  private static let immediateOnMain = CustomContext(
    execute: { work in
      if isMainQueueCurrent { work() } else { DispatchQueue.main.async(execute: work) }
    },
    after: nil
  )

  /// Whether the caller runs on the main queue.
  @usableFromInline
  package static var isMainQueueCurrent: Bool {
    _ = mainQueueIsMarked  // its first use sets the value that the next line reads
    return DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  /// Whether the main actor and the main queue are blocked while the calling thread is.
  ///
  /// Two tests: on Linux, any thread can serve the main queue, and `sync` of another queue can run its work on the main thread.
  static var isMainThread: Bool { isMainQueueCurrent || cfutures_is_on_main_thread() }

  /// Replaces the main context for the code that a task runs, and for the tasks that it starts.
  ///
  /// Only `replace(with:for:)` sets it. The replacement has to run its work on the main actor, to which callbacks are isolated.
  ///
  /// Not declared with the macro `@TaskLocal`: the compilers that check other platforms lack its plug-in.
  private static let replacement = TaskLocal<ExecutionContext?>(wrappedValue: nil)

  /// Whether any test has replaced the main context; while none has, a use costs one relaxed load, and reads no task-local.
  private static let mayBeReplaced = AtomicByte<Bool>(false)

  static var currentReplacement: ExecutionContext? {
    // Relaxed: the task that replaces the context, and the tasks that it starts, see their own store.
    mayBeReplaced.load(ordering: .relaxed) ? replacement.get() : nil
  }

  /// Runs `body` with `context` in the place of the main context.
  package static func replace<Result>(
    with context: ExecutionContext,
    for body: () throws -> Result
  ) rethrows -> Result {
    mayBeReplaced.store(true, ordering: .relaxed)
    return try replacement.withValue(context, operation: body)
  }

  /// Runs `body`, which can suspend, with `context` in the place of the main context.
  @MainActor
  package static func replace<Result>(
    with context: ExecutionContext,
    for body: @MainActor () async throws -> Result
  ) async rethrows -> Result {
    mayBeReplaced.store(true, ordering: .relaxed)
    return try await replacement.withValue(context) { try await body() }
  }

  private static let mainQueueKey = DispatchSpecificKey<Bool>()
  private static let mainQueueIsMarked: Void = DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
}
