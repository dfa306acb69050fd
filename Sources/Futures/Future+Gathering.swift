// Many futures that become one. Results come in the order of the futures, whatever the order in which they are resolved
// (R11), and the cost of one more future is one allocation and O(1), whatever their number.
//
// A future that is left, because another has decided or the whole was cancelled, is cancelled if nobody else needs it (R12,
// R16). Where the whole cannot say "cancelled", as those whose failure is `Never` or `CompositeError`, cancelling it cancels
// the futures in the same way, and it still resolves as they do.

extension Future {
  /// All values, in the order of the futures; it fails as soon as one of them does, and leaves the others.
  ///
  /// Among futures that have failed already, the first one decides. No futures: an empty array, at once.
  /// - Parameter futures: The futures to wait for.
  /// - Returns: A future of the values. It is resolved on the thread that resolves the last, or the failing, future. Cancelling
  ///   it leaves all futures.
  @inlinable
  public static func all(_ futures: some Collection<Future>) -> Future<[Value], Failure> {
    gather(Array(futures), decide: { $0.failure.map { .failure($0) } }) { inputs in
      .success(inputs.map { $0.peekedValue.unsafelyUnwrapped })
    }
  }

  /// All results, in the order of the futures, when the last one is there.
  ///
  /// No futures: an empty array, at once.
  /// - Parameter futures: The futures to wait for.
  /// - Returns: A future of the results, which cannot fail. Cancelling it leaves all futures, and waits for how they end.
  @inlinable
  public static func allSettled(_ futures: some Collection<Future>) -> Future<[Result<Value, Failure>], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in
      .success(inputs.map { $0.peek().unsafelyUnwrapped })
    }
  }

  /// All values, in the order of the futures, or all errors; it waits for all futures in any case.
  ///
  /// No futures: an empty array, at once.
  /// - Parameter futures: The futures to wait for.
  /// - Returns: A future of the values. It fails with the errors of those that failed, in the order of the futures.
  ///   Cancelling it leaves all futures, and waits for how they end.
  @inlinable
  public static func allOrErrors(_ futures: some Collection<Future>) -> Future<[Value], CompositeError<Failure>> {
    gather(Array(futures), decide: { _ in nil }) { inputs in
      let errors = inputs.compactMap { $0.peekedError }
      return errors.isEmpty
        ? .success(inputs.map { $0.peekedValue.unsafelyUnwrapped }) : .failure(CompositeError(errors: errors))
    }
  }

  /// All values, in the order of the futures, with `nil` in the place of each that failed.
  ///
  /// No futures: an empty array, at once.
  /// - Parameter futures: The futures to wait for.
  /// - Returns: A future of the values, which cannot fail. Cancelling it leaves all futures, and waits for how they end.
  @inlinable
  public static func allOptional(_ futures: some Collection<Future>) -> Future<[Value?], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in .success(inputs.map { $0.peekedValue }) }
  }

  /// The values of those that succeed, in the order of the futures; failures are left out.
  ///
  /// No futures: an empty array, at once.
  /// - Parameter futures: The futures to wait for.
  /// - Returns: A future of the values, which cannot fail. Cancelling it leaves all futures, and waits for how they end.
  @inlinable
  public static func allSucceeding(_ futures: some Collection<Future>) -> Future<[Value], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in .success(inputs.compactMap { $0.peekedValue }) }
  }

  /// The result of the future that is resolved first, value or error; the others are left.
  ///
  /// Among futures that are resolved already, the first one wins.
  /// - Parameter futures: The futures to wait for; none at all would never end, and traps.
  /// - Returns: A future that resolves as the fastest one. Cancelling it leaves all futures.
  @inlinable
  public static func race(_ futures: some Collection<Future>) -> Future {
    precondition(!futures.isEmpty, "race was given no futures, and would never end.")
    return gather(Array(futures), progress: .furthest, decide: { $0 }) { _ in
      preconditionFailure("A race was over before a future had won it.")
    }
  }

  /// The value of the future that succeeds first; the others are left then.
  ///
  /// Among futures that have succeeded already, the first one wins.
  /// - Parameter futures: The futures to wait for; none at all could neither succeed nor fail, and traps.
  /// - Returns: A future of the first value. If all fail, it fails with all errors, in the order of the futures.
  ///   Cancelling it leaves all futures, and waits for how they end.
  @inlinable
  public static func firstSuccess(_ futures: some Collection<Future>) -> Future<Value, CompositeError<Failure>> {
    precondition(!futures.isEmpty, "firstSuccess was given no futures, so that none of them could succeed.")
    return gather(Array(futures), progress: .furthest, decide: { $0.success.map { .success($0) } }) { inputs in
      .failure(CompositeError(errors: inputs.map { $0.peekedError.unsafelyUnwrapped }))
    }
  }

  /// All values combined into one, in the order of the futures; it fails as soon as one of them does, and leaves the others.
  ///
  /// No futures: `initial`, at once.
  /// - Parameters:
  ///   - initial: What the first value is combined with.
  ///   - futures: The futures to wait for.
  ///   - next: Combines what there is with the next value. It runs inline, when all values are there.
  /// - Returns: A future of the combined value. Cancelling it leaves all futures.
  @inlinable
  public static func reduce<R: Sendable>(
    _ initial: R,
    _ futures: some Collection<Future>,
    _ next: @escaping @Sendable (R, Value) -> R
  ) -> Future<R, Failure> {
    all(futures).map { values in values.reduce(initial, next) }
  }
}

extension Future {
  /// All values in a tuple, in the order of the futures; it fails as soon as one of them does, and leaves the others.
  ///
  /// Among futures that have failed already, the first one decides.
  ///
  /// ```swift
  /// let (name, picture) = try await Future.zip(loadName(), loadPicture()).value
  /// ```
  /// - Parameter futures: Any number of futures, of any value types and one failure type.
  /// - Returns: A future of the values. It is resolved on the thread that resolves the last, or the failing, future. Cancelling
  ///   it leaves all futures.
  public static func zip<each V: Sendable>(
    _ futures: repeat Future<each V, Failure>
  ) -> Future<(repeat each V), Failure> where Value == (repeat each V) {
    var isPending = false
    for future in repeat each futures {
      switch future.peek() {
      case .failure(let error)?:
        for input in repeat each futures { input.cancelIfUnneeded() }
        return .failed(error)
      case .success?: break
      case nil: isPending = true
      }
    }
    guard isPending else { return .succeeded((repeat (each futures).peekedValue.unsafelyUnwrapped)) }
    let derived = State<Value, Failure>(hasPromise: false)
    var total = 0
    for _ in repeat each futures { total += 1 }
    let gathering = Gathering(derived, of: total, progress: .average) {
      .success((repeat (each futures).peekedValue.unsafelyUnwrapped))
    }
    var inputs: [GatheredInput] = []
    for future in repeat each futures {
      if let input = future.input(of: gathering, decide: { $0.failure.map { .failure($0) } }) { inputs.append(input) }
    }
    gathering.start(inputs)
    return Future(derived)
  }
}

extension Future {
  /// A future that resolves as the first input that decides, or as `complete` makes of all of them.
  ///
  /// - Parameters:
  ///   - inputs: The futures to wait for.
  ///   - rule: What the progress of the whole is.
  ///   - decide: What the result of one input makes of the whole, if it alone decides.
  ///   - complete: Makes the result of the inputs, which all have theirs.
  /// - Returns: The derived future.
  @inlinable
  static func gather<New: Sendable, NewFailure: Error>(
    _ inputs: [Future],
    progress rule: ProgressRule = .average,
    decide: @escaping @Sendable (Result<Value, Failure>) -> Result<New, NewFailure>?,
    complete: @escaping @Sendable ([Future]) -> Result<New, NewFailure>
  ) -> Future<New, NewFailure> {
    var isPending = false
    // By index here and below: iterating counts a reference to each element.
    for index in inputs.indices {
      guard let result = inputs[index].peek() else {
        isPending = true
        continue
      }
      if let decision = decide(result) {
        for input in inputs { input.cancelIfUnneeded() }
        return .resolved(decision)
      }
    }
    guard isPending else { return .resolved(complete(inputs)) }
    let derived = State<New, NewFailure>(hasPromise: false)
    let gathering = Gathering(derived, of: inputs.count, progress: rule) { complete(inputs) }
    var gathered: [GatheredInput] = []
    gathered.reserveCapacity(inputs.count)
    for index in inputs.indices {
      if let input = inputs[index].input(of: gathering, decide: decide) { gathered.append(input) }
    }
    gathering.start(gathered)
    return Future<New, NewFailure>(derived)
  }
}
