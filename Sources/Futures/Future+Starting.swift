// Futures that come with their work: run elsewhere, run later, run now, or never.

extension Future {
  /// Runs `work` on `context`, and resolves as it returns or throws.
  ///
  /// Work that the context drops breaks the future (R2a). Cancelling the future before `work` has started keeps it from
  /// starting, where `Failure` can say so. Cost: one hop.
  /// - Parameters:
  ///   - context: Where `work` runs.
  ///   - work: Returns the value, or throws what the future fails with.
  @inlinable
  public init(on context: ExecutionContext, _ work: @escaping @Sendable () throws(Failure) -> Value) {
    self = Future<Void, Failure>.succeeded(()).map(on: context, work)
  }

  /// Runs `work` on `context`, and resolves as the future that it returns.
  ///
  /// Work that the context drops breaks the future (R2a). Cancelling the future before `work` has started keeps it from
  /// starting, where `Failure` can say so. Cost: one hop.
  /// - Parameters:
  ///   - context: Where `work` runs.
  ///   - work: Makes the future to resolve as.
  @inlinable
  public init(on context: ExecutionContext, flattening work: @escaping @Sendable () -> Future<Value, Failure>) {
    self = Future<Void, Failure>.succeeded(()).flatMap(on: context, progressShare: 0, work)
  }

  /// A future whose work starts when somebody first observes it, derives from it or awaits it.
  ///
  /// `start` runs once, on the thread of that first consumer, before what attaches it returns; within deeply nested
  /// callbacks, before the outermost one returns. `peek` and `isResolved` do not start it; a lazy future that is dropped
  /// unstarted is no broken promise (R2b). Cancelled before its start it never starts.
  ///
  /// Two allocations before the start, one of them the closure.
  /// - Parameters:
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - start: Starts the work, as the closure of `init(_:fileID:line:_:)` does.
  /// - Returns: The future.
  public static func lazy(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: @escaping @Sendable (Promise<Value, Failure>) -> Void
  ) -> Self {
    let lazy = LazyStart { state in
      let state = unsafeDowncast(state, to: State<Value, Failure>.self)
      start(Promise(resolving: state, fileID: fileID, line: line))
    }
    return Future(State<Value, Failure>(lazy))
  }

  /// Runs `body` now, here, and resolves as it returns or throws.
  ///
  /// For `body` that decides, or computes; work that takes long belongs on a context: `Future(on: .global()) { … }`.
  /// No allocation.
  /// - Parameter body: Returns the value, or throws what the future fails with.
  /// - Returns: A resolved future.
  @inlinable
  public static func catching(_ body: () throws(Failure) -> Value) -> Self {
    do throws(Failure) {
      return .succeeded(try body())
    } catch {
      return .failed(error)
    }
  }

  /// A future that never resolves, and that is no mistake.
  ///
  /// What is derived from it never resolves either. An await of it ends when its task is cancelled, a `timeout` ends it, `race`
  /// passes it over, and cancelling it fails it, and what was derived from it, where `Failure` can say so. Its callbacks go with
  /// its last copy. One allocation.
  public static var never: Self {
    let state = State<Value, Failure>(hasPromise: false)
    state.orphan()
    return Future(state)
  }

  /// A future of any other future type.
  ///
  /// If the other one drops its completion uncalled, this future breaks (R12); calling it a second time changes nothing.
  /// - Parameters:
  ///   - other: The other future.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  public init(_ other: some FutureProtocol<Value, Failure>, fileID: StaticString = #fileID, line: UInt = #line) {
    if let future = other as? Future {
      self = future
    } else {
      self.init(fileID: fileID, line: line) { promise in
        other.forward { result in promise.resolve(result) }
      }
    }
  }
}
