// The transforms with `on: .main`: their closures are isolated to the main actor.
//
// Each transform stores the user's closure in one other closure, the argument of `derive`. That closure runs on the
// main actor only for results to transform, so only their branch calls `assumeIsolated`. Other results pass on inline.

extension Future {
  /// Transforms the value on the main actor; a failure passes on unchanged.
  @_alwaysEmitIntoClient
  public func map<New: Sendable>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Value) -> New
  ) -> Future<New, Failure> {
    derive(on: context.context, for: .values) { result in
      result.andThen { value in .succeeded(MainActor.assumeIsolated { transform(value) }) }
    }
  }

  /// Transforms the value on the main actor, or fails with the error that `transform` throws; a failure passes on unchanged.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public func map<New: Sendable>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Value) throws(Failure) -> New
  ) -> Future<New, Failure> {
    derive(on: context.context, for: .values) { result in
      result.andThen { value in MainActor.assumeIsolated { .catching { () throws(Failure) in try transform(value) } } }
    }
  }

  /// Resolves as the future that `transform` makes of the value on the main actor; a failure passes on unchanged.
  @_alwaysEmitIntoClient
  public func flatMap<New: Sendable>(
    on context: MainContext,
    progressShare: Double = 0.5,  // of this future; the rest is for the future that `transform` makes (R19)
    _ transform: @escaping @MainActor (Value) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    derive(on: context.context, for: .values, progressShare: progressShare.clampedToFraction) { result in
      result.andThen { value in MainActor.assumeIsolated { transform(value) } }
    }
  }

  /// Resolves as the future that `transform` makes on the main actor, or fails with the error that it throws.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public func flatMap<New: Sendable>(
    on context: MainContext,
    progressShare: Double = 0.5,
    _ transform: @escaping @MainActor (Value) throws(Failure) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    derive(on: context.context, for: .values, progressShare: progressShare.clampedToFraction) { result in
      result.andThen { value in MainActor.assumeIsolated { .flattening { () throws(Failure) in try transform(value) } }
      }
    }
  }

  /// Resolves as the future that `transform` makes on the main actor; that future cannot fail.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public func flatMap<New: Sendable>(
    on context: MainContext,
    progressShare: Double = 0.5,
    _ transform: @escaping @MainActor (Value) -> Future<New, Never>
  ) -> Future<New, Failure> {
    flatMap(on: context, progressShare: progressShare) { value -> Future<New, Failure> in
      transform(value).setFailureType()
    }
  }
}

extension Future where Failure == Never {
  /// Resolves as the future that `transform` makes on the main actor; that future can fail, although this one cannot.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // otherwise a call is ambiguous if neither future can fail
  public func flatMap<V: Sendable, F: Error>(
    on context: MainContext,
    progressShare: Double = 0.5,
    _ transform: @escaping @MainActor (Value) -> Future<V, F>
  ) -> Future<V, F> {
    derive(on: context.context, for: .values, progressShare: progressShare.clampedToFraction) { result in
      MainActor.assumeIsolated { transform(result.get()) }
    }
  }
}

// MARK: - Errors

extension Future {
  /// Transforms the error on the main actor; a value passes on unchanged.
  @_alwaysEmitIntoClient
  public func mapError<New: Error>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Failure) -> New
  ) -> Future<Value, New> {
    derive(on: context.context, for: .failures) { result in
      result.orElse { error in .failed(MainActor.assumeIsolated { transform(error) }) }
    }
  }

  /// Replaces a failure by the future that `transform` returns on the main actor; a value passes on unchanged.
  @_alwaysEmitIntoClient
  public func flatMapError<New: Error>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Failure) -> Future<Value, New>
  ) -> Future<Value, New> {
    derive(on: context.context, for: .failures) { $0.orElse { error in MainActor.assumeIsolated { transform(error) } } }
  }

  /// Replaces a failure by the future that `transform` returns on the main actor, or by the error that it throws.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public func flatMapError<New: Error>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Failure) throws(New) -> Future<Value, New>
  ) -> Future<Value, New> {
    derive(on: context.context, for: .failures) { result in
      result.orElse { error in MainActor.assumeIsolated { .flattening { () throws(New) in try transform(error) } } }
    }
  }

  /// Replaces a failure by a value that `transform` makes on the main actor, so the derived future cannot fail.
  @_alwaysEmitIntoClient
  public func recover(
    on context: MainContext,
    _ transform: @escaping @MainActor (Failure) -> Value
  ) -> Future<Value, Never> {
    derive(on: context.context, for: .failures) { result in
      result.orElse { error in .succeeded(MainActor.assumeIsolated { transform(error) }) }
    }
  }

  /// Replaces a failure by a value that `transform` makes on the main actor, or by the error that it throws.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public func recover<New: Error>(
    on context: MainContext,
    _ transform: @escaping @MainActor (Failure) throws(New) -> Value
  ) -> Future<Value, New> {
    derive(on: context.context, for: .failures) { result in
      result.orElse { error in MainActor.assumeIsolated { .catching { () throws(New) in try transform(error) } } }
    }
  }
}

// MARK: - Starting

extension Future {
  /// Runs `work` on the main actor, and resolves with its value or error.
  ///
  /// A cancellation before `work` has started keeps it from starting, if `Failure` can represent cancellation.
  @_alwaysEmitIntoClient
  public init(
    on context: MainContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,  // with `fileID`, the place that the error of dropped work names
    _ work: @escaping @MainActor () throws(Failure) -> Value
  ) {
    self = Future<Void, Failure>(resolvedAt: fileID, line, for: context.context).derive(on: context.context) { _ in
      MainActor.assumeIsolated { .catching { () throws(Failure) in try work() } }
    }
  }

  /// Runs `work` on the main actor, and resolves as the future that it returns.
  ///
  /// A cancellation before `work` has started keeps it from starting, if `Failure` can represent cancellation.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // otherwise it also fits a trailing closure of several statements that returns no value
  public init(
    on context: MainContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    flattening work: @escaping @MainActor () -> Future<Value, Failure>
  ) {
    let start = Future<Void, Failure>(resolvedAt: fileID, line, for: context.context)  // keeps the place for an error
    // The share of `start` is 0, because the whole progress belongs to the future that `work` returns.
    self = start.derive(on: context.context, progressShare: 0) { _ in MainActor.assumeIsolated { work() } }
  }

  /// Calls `body` now, and returns its future, or a failed future with the error that `body` throws.
  @_alwaysEmitIntoClient
  static func flattening(_ body: () throws(Failure) -> Future) -> Future {
    do throws(Failure) {
      return try body()
    } catch {
      return .failed(error)
    }
  }
}
