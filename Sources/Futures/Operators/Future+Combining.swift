// Futures that wait for several inputs. Results are in the order of the inputs (R11). Each input costs at most one
// allocation and O(1) time, whatever their number.
//
// A join *leaves* an input: it is no longer a consumer of that input, and cancels an input without other consumers (R12, R16).
// `Never` and `CompositeError` cannot represent cancellation. A cancelled join with such a failure keeps no input running,
// but still resolves as its inputs do. The `decide` of `gather` returns `nil` if one result alone decides nothing.

extension Future {
  /// Returns a future of all values, in the order of the futures; it fails with the first failure.
  ///
  /// Use it for a list of requests that are all needed. To start many of them a few at a time, write `concurrent`. To
  /// get every result although some fail, write ``allSettled(_:)``.
  ///
  /// ```swift
  /// let pages = Future.all([load(url), load(url)])
  /// pages.whenSucceeded(on: .main) { datas in label.text = "\(datas.count) pages" }
  /// ```
  ///
  /// After a failure the join leaves the other futures (R12). Among futures that have already failed, the first in order decides.
  /// Without futures it resolves at once with an empty array.
  /// - Returns: A future of the values. It is resolved on the thread that resolves the last, or the failing, future.
  ///   Cancelling it cancels each input that nothing else waits for (R16).
  @_alwaysEmitIntoClient
  public static func all(_ futures: some Collection<Future>) -> Future<[Value], Failure> {
    gather(Array(futures), decide: { $0.failure.map { .failure($0) } }) { inputs in
      .success(inputs.map { $0.peekedValue.unsafelyUnwrapped })
    }
  }

  /// Returns a future of all results, in the order of the futures.
  ///
  /// Without futures it resolves at once with an empty array.
  /// - Returns: A future of the results. Cancelling it cancels each input that nothing else waits for (R16). It cannot fail, so
  ///   it still waits for the results of all inputs.
  @_alwaysEmitIntoClient
  public static func allSettled(_ futures: some Collection<Future>) -> Future<[Result<Value, Failure>], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in  // `nil`: no result decides alone
      .success(inputs.map { $0.peek().unsafelyUnwrapped })
    }
  }

  /// Returns a future of all values or all errors, in the order of the futures; waits for all futures in any case.
  ///
  /// Without futures it resolves at once with an empty array.
  /// - Returns: A future of the values. If any future fails, it fails with all errors, in the order of the futures.
  ///   Cancelling it cancels each input that nothing else waits for (R16).
  @_alwaysEmitIntoClient
  public static func allOrErrors(_ futures: some Collection<Future>) -> Future<[Value], CompositeError<Failure>> {
    gather(Array(futures), decide: { _ in nil }) { inputs in  // `nil`: no result decides alone
      let errors = inputs.compactMap { $0.peekedError }
      return errors.isEmpty
        ? .success(inputs.map { $0.peekedValue.unsafelyUnwrapped }) : .failure(CompositeError(errors: errors))
    }
  }

  /// Returns a future of all values, in the order of the futures, with `nil` for each failure.
  ///
  /// No single result decides, so it waits for all futures. Without futures it resolves at once with an empty array.
  /// - Returns: A future of the values, which cannot fail. Cancelling it cancels each input that nothing else waits for
  ///   (R16). It still gathers the results of all inputs.
  @_alwaysEmitIntoClient
  public static func allOptional(_ futures: some Collection<Future>) -> Future<[Value?], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in .success(inputs.map { $0.peekedValue }) }
  }

  /// Returns a future of the values of the successful futures, in the order of the futures; omits failures.
  ///
  /// No single result decides, so it waits for all futures. Without futures it resolves at once with an empty array.
  /// - Returns: A future of the values, which cannot fail. Cancelling it cancels each input that nothing else waits for
  ///   (R16). It still gathers the results of all inputs.
  @_alwaysEmitIntoClient
  public static func allSucceeding(_ futures: some Collection<Future>) -> Future<[Value], Never> {
    gather(Array(futures), decide: { _ in nil }) { inputs in .success(inputs.compactMap { $0.peekedValue }) }
  }

  /// Returns a future with the first result, a value or an error; leaves the other futures.
  ///
  /// Among futures that are already resolved, the first in order wins.
  /// - Parameter futures: The futures to wait for. An empty collection traps, because the race would never end.
  /// - Returns: A future that resolves as the fastest one. Cancelling it cancels each input that nothing else waits for (R16).
  @_alwaysEmitIntoClient
  public static func race(_ futures: some Collection<Future>) -> Future {
    require(!futures.isEmpty, "Future.race needs at least one future: an empty race never resolves.")
    return gather(Array(futures), progress: .furthest, decide: { $0 }) { _ in  // `{ $0 }`: any result decides
      preconditionFailure("Future.race completed without a winner. Report this as a bug in swift-futures.")
    }
  }

  /// Returns a future of the first value; leaves the other futures then.
  ///
  /// Among futures that have already succeeded, the first in order wins.
  /// - Parameter futures: The futures to wait for. An empty collection traps, because no future could give a value or an error.
  /// - Returns: A future of the first value. If all fail, it fails with all errors, in the order of the futures.
  ///   Cancelling it cancels each input that nothing else waits for (R16).
  @_alwaysEmitIntoClient
  public static func firstSuccess(_ futures: some Collection<Future>) -> Future<Value, CompositeError<Failure>> {
    require(!futures.isEmpty, "Future.firstSuccess needs at least one future: without any, none can succeed.")
    return gather(Array(futures), progress: .furthest, decide: { $0.success.map { .success($0) } }) { inputs in
      .failure(CompositeError(errors: inputs.map { $0.peekedError.unsafelyUnwrapped }))
    }
  }

  /// Combines all values into one, in the order of the futures; fails with the first failure.
  ///
  /// After a failure the join leaves the other futures (R12). Without futures it resolves at once with `initial`.
  /// - Parameters:
  ///   - initial: The first argument of the first call of `next`.
  ///   - futures: The futures to wait for.
  ///   - next: Combines the result so far with the next value. It runs inline, when all futures have succeeded.
  /// - Returns: A future of the combined value. Cancelling it cancels each input that nothing else waits for (R16).
  @_alwaysEmitIntoClient
  public static func reduce<R: Sendable>(
    _ initial: R,
    _ futures: some Collection<Future>,
    _ next: @escaping @Sendable (R, Value) -> R
  ) -> Future<R, Failure> {
    all(futures).map { values in values.reduce(initial, next) }
  }
}

extension Future {
  /// Returns a future of all values as a tuple; it fails with the first failure.
  ///
  /// Use it for a few values of different types that are all needed at once.
  ///
  /// After a failure the join leaves the other futures (R12). Among futures that have already failed, the first in order decides.
  ///
  /// ```swift
  /// let (name, picture) = try await Future.zip(loadName(), loadPicture()).value
  /// ```
  ///
  /// For futures of several failure types, write ``eraseFailure()`` on each that has a typed failure, and
  /// `setFailureType()` on each that cannot fail.
  /// - Parameter futures: Any number of futures, of any value types and one failure type.
  /// - Returns: A future of the values. It is resolved on the thread that resolves the last, or the failing, future.
  ///   Cancelling it cancels each input that nothing else waits for (R16).
  public static func zip<each V: Sendable>(
    _ futures: repeat Future<each V, Failure>
  ) -> Future<(repeat each V), Failure> where Value == (repeat each V) {
    var isPending = false
    for future in repeat each futures {
      switch future.peek() {
      case .failure(let error)?:
        for input in repeat each futures { input.cancelIfUnneeded() }  // the failure leaves the other inputs (R12)
        return .failed(error)
      case .success?: break
      case nil: isPending = true
      }
    }
    guard isPending else { return .succeeded((repeat (each futures).peekedValue.unsafelyUnwrapped)) }
    let derived = State<Value, Failure>()
    var total = 0
    for _ in repeat each futures { total += 1 }  // those without an input below count as done
    let join = Join(derived, of: total, progress: .average) {
      .success((repeat (each futures).peekedValue.unsafelyUnwrapped))
    }
    var inputs: [JoinedInput] = []
    for future in repeat each futures {
      if let input = future.input(failing: join) { inputs.append(input) }  // `nil`: has its value already
    }
    join.start(inputs)
    return Future(derived)
  }
}

extension Future {
  /// Returns a future that one input decides, or that `complete` resolves when all inputs are resolved.
  ///
  /// - Parameters:
  ///   - inputs: The futures to wait for.
  ///   - rule: How the inputs make the progress of the derived future.
  ///   - decide: Returns the result of the derived future if one input alone decides it.
  ///   - complete: Makes the result from the inputs, which are all resolved.
  /// - Returns: The derived future.
  @_alwaysEmitIntoClient
  static func gather<New: Sendable, NewFailure: Error>(
    _ inputs: [Future],
    progress rule: ProgressRule = .average,
    decide: @escaping @Sendable (Result<Value, Failure>) -> Result<New, NewFailure>?,
    complete: @escaping @Sendable ([Future]) -> Result<New, NewFailure>
  ) -> Future<New, NewFailure> {
    var isPending = false
    // By index, except after a decision: iterating counts a reference to each element.
    for index in inputs.indices {
      guard let result = inputs[index].peek() else {
        isPending = true
        continue
      }
      if let decision = decide(result) {
        for input in inputs { input.cancelIfUnneeded() }  // the decision leaves the other inputs (R12)
        return .resolved(decision)
      }
    }
    guard isPending else { return .resolved(complete(inputs)) }
    let derived = State<New, NewFailure>()
    let join = Join(derived, of: inputs.count, progress: rule) { complete(inputs) }
    let deliver = join.delivery(of: Future.self, deciding: decide)
    var joined: [JoinedInput] = []
    joined.reserveCapacity(inputs.count)
    for index in inputs.indices {
      if let input = inputs[index].input(deliver) { joined.append(input) }  // `nil`: never pending, so `decide` saw it
    }
    join.start(joined)
    return Future<New, NewFailure>(derived)
  }
}
