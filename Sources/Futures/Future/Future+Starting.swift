// Futures that start their own work: on a context, for the first consumer, at once, or never.

extension Future {
  /// Runs `work` on `context`, and resolves with its value or error.
  ///
  /// Work that the context drops breaks the future (R2a). If `Failure` can represent cancellation, a cancellation
  /// before the start keeps `work` from starting. Cost: one submission to `context`.
  /// - Parameters:
  ///   - context: Where `work` runs.
  ///   - fileID: The file that the error of dropped work names.
  ///   - line: The line that the error names.
  ///   - work: Returns the value, or throws the future's failure.
  @_alwaysEmitIntoClient
  public init(
    on context: ExecutionContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) {
    // The resolved source keeps the place of this call for an error, but not for an immediate context, which drops no work.
    self = Future<Void, Failure>(resolvedAt: fileID, line, for: context).map(on: context, work)
  }

  /// Runs `work` on `context`, and resolves as the future that it returns.
  ///
  /// Work that the context drops breaks the future (R2a). If `Failure` can represent cancellation, a cancellation
  /// before the start keeps `work` from starting. Cost: one submission to `context`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // otherwise it also fits a trailing closure of several statements that returns no value
  public init(
    on context: ExecutionContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    flattening work: @escaping @Sendable () -> Future<Value, Failure>
  ) {
    // As above. The share of the resolved source is 0, because it does no work.
    self = Future<Void, Failure>(resolvedAt: fileID, line, for: context).flatMap(on: context, progressShare: 0, work)
  }

  /// Wraps a callback API whose start can throw; the error fails the future.
  ///
  /// A closure that does not throw selects the overload without `throws`, which is otherwise the same. An error after
  /// the resolution of the promise has no effect (R1).
  @_disfavoredOverload
  public init(
    _ label: @autoclosure () -> String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: (Promise<Value, Failure>) throws(Failure) -> Void
  ) {
    let promise = Promise<Value, Failure>(label(), fileID: fileID, line: line)
    do throws(Failure) {
      try start(promise)
    } catch {
      promise.fail(error)
    }
    self = promise.future
  }

  /// Returns a future whose work starts with its first consumer: a callback, a derived future or an await.
  ///
  /// `start` runs once, on the thread that attaches the first consumer, before the attaching call returns. In deeply
  /// nested callbacks it runs before the outermost callback returns. Observing the progress also starts the work. `peek`
  /// and `isResolved` do not. Releasing the future before the start breaks no promise. After a cancellation before the
  /// start, the work never starts (R2b).
  ///
  /// Four allocations before the start, one of them the closure.
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

  /// Runs `body` at once on this thread, and returns a resolved future of its value or error.
  ///
  /// For a short computation. Long work belongs on a context: `Future(on: .global()) { … }`. No allocation.
  /// - Parameter body: Returns the value, or throws the future's failure.
  /// - Returns: A resolved future.
  @_alwaysEmitIntoClient
  public static func catching(_ body: () throws(Failure) -> Value) -> Self {
    do throws(Failure) {
      return .succeeded(try body())
    } catch {
      return .failed(error)
    }
  }

  /// A future that never resolves, and causes no report of a broken promise.
  ///
  /// Futures derived from it never resolve either, with these exceptions. `timeout` resolves its derived future at the
  /// deadline. `race` resolves as another input. A cancelled task ends its await. Cancelling this future fails it and
  /// its derived futures, if `Failure` can represent cancellation. Its callbacks are released with its last copy. One
  /// allocation.
  ///
  /// A program can keep and share it: a cancelled derived future releases its stage and does not cancel this future.
  /// A cancelled derived future that cannot represent cancellation, such as that of `materialize`, keeps its stage: a later
  /// cancellation of this future still resolves it (R16). It keeps none if `Failure` cannot represent cancellation, either.
  public static var never: Self {
    let state = State<Value, Failure>()
    state.orphan()  // so derived futures know that they never resolve either
    return Future(state)
  }

  /// Makes a future of another future type.
  ///
  /// If the other future releases its completion without a call, this future breaks (R12). A second call has no effect.
  public init(
    _ other: any FutureProtocol<Value, Failure> = Self.requiredFuture(),
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    // `any`, with a default, keeps the compiler from matching the closure of `Future { promise in }` with `other`. With `some`,
    // it would also try this initializer, and misplace the error for a mistake in the closure. `Future+Fixits` refuses `Future()`.
    self = Self.following(other, fileID, line)
  }

  /// The default of `other` above; never called, because an initializer in `Future+Fixits.swift` refuses `Future()`.
  ///
  /// Not the generic `required()` of that file: this type as a generic argument needs metadata that older systems lack.
  @usableFromInline
  static func requiredFuture() -> any FutureProtocol<Value, Failure> { Self.never }

  /// Returns a future that resolves as `other`; generic, because a cast of the existential needs metadata of newer systems.
  private static func following(
    _ other: some FutureProtocol<Value, Failure>,
    _ fileID: StaticString,
    _ line: UInt
  ) -> Future {
    if let future = other as? Future { return future }
    return Future(fileID: fileID, line: line) { promise in
      other.forward { result in promise.resolve(result) }
    }
  }
}

extension Future where Value == Void {
  /// Makes the resolved future from which `Future(on:)` is derived by `map` or `flatMap`.
  ///
  /// Keeps the place of the call for the error of dropped work. An immediate context drops no work, so nothing is kept for it.
  @inlinable
  init(resolvedAt fileID: StaticString, _ line: UInt, for context: ExecutionContext) {
    self = context.isImmediate ? .succeeded(()) : Future(StartState<Failure>(fileID, line))
  }
}

/// The resolved source of `Future(on:)` unless the context is immediate; keeps the place of the call for errors of dropped work.
@_fixed_layout
@usableFromInline
final class StartState<Failure: Error>: TypedState<Outcome<Void, Failure>>, @unchecked Sendable {
  // @unchecked: as the base class says; `fileID` points to a constant of the program.
  @usableFromInline let fileID: UnsafePointer<UInt8>
  @usableFromInline let line: UInt

  @inlinable
  init(_ fileID: StaticString, _ line: UInt) {
    self.fileID = Promise<Void, Failure>.pointer(to: fileID)
    self.line = line
    super.init(isForPromise: false, isStage: false) { _, _, _ in }  // gets no delivery: it waits for no source
    resolve(.success(()))
  }

  override var startPlace: PromisePlace? { (fileID, line) }
}
