extension Future {
  /// Runs the items one after another, and fails with the first failure.
  ///
  /// Each item starts after the success of the previous one. `start` runs for the first item at once, on the calling
  /// thread. For each other item it runs on the thread that resolved the previous future. A million items that complete
  /// at once take no stack. The progress is the average of the items.
  ///
  /// If `Failure` cannot represent cancellation, as `Never` cannot, a cancelled series still starts each item, because its result
  /// needs each value. It cancels an item at once, unless something else uses the item, and waits for its value. To stop the series,
  /// use another failure type, or `concurrentSettled(_:limit:_:)` with a limit of 1.
  /// - Parameters:
  ///   - items: The items.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. Without items it resolves at once with an empty
  ///   array. If `Failure` can represent cancellation, cancelling it leaves the running item and starts no more.
  @_alwaysEmitIntoClient
  public static func serial<Item: Sendable>(
    _ items: some Collection<Item>,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    concurrent(items, limit: 1, start)
  }

  /// Runs the items, at most `limit` at any time, and fails with the first failure.
  ///
  /// If `Failure` cannot represent cancellation, as `Never` cannot, a cancelled run still starts each item, because its result
  /// needs each value. It cancels an item at once, unless something else uses the item, and waits for its value. To run items
  /// whatever fails, and to stop at a cancellation, write `concurrentSettled(urls, limit: 6) { download($0) }`. A run such as
  /// `concurrent(urls, limit: 6) { download($0).materialize() }` does not stop, because its failure type is `Never`.
  ///
  /// The first failure leaves the other running items, and no more items start. `start` runs in the order of the items,
  /// and never on two threads at the same time. It runs when a slot is free. The first calls are on the calling thread,
  /// later ones on the thread that resolved an item's future. A million items that complete at once take no stack. The progress
  /// is the average of the items.
  /// - Parameters:
  ///   - items: The items.
  ///   - limit: The maximum number of running items. Less than 1 traps.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. Without items it resolves at once with an empty
  ///   array. If `Failure` can represent cancellation, cancelling it leaves the running items and starts no more.
  @_alwaysEmitIntoClient
  public static func concurrent<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    require(limit >= 1, "Future.concurrent needs a limit of at least 1, but limit is \(limit).")
    return run(items, limit: limit, resolving: State<[Value], Failure>(), start)
  }

  /// Runs the items in an `ItemQueue`, which resolves `derived`; the caller makes `derived`, because `runSettled` also reads it.
  @_alwaysEmitIntoClient
  static func run<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    resolving derived: State<[Value], Failure>,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    let queue = ItemQueue(items, limit: limit, resolving: derived, start)
    derived.setProducer(.inputs(queue))
    if FuturesDiagnostics.mayTrackPendingFutures { derived.trackJoin() }
    queue.startItems()
    return Future<[Value], Failure>(derived)
  }
}

// MARK: - Every result

// Three overloads, because the results of the items that do not start have to represent cancellation.

extension Future where Failure == any Error {
  /// Runs the items, at most `limit` at any time, and collects each result, whatever fails.
  ///
  /// For work of which each part counts on its own, such as 200 downloads. `concurrent` fails with the first failure instead, and
  /// `allSettled` takes futures that already run.
  ///
  /// ```swift
  /// let all = Future.concurrentSettled(urls, limit: 6) { url in load(url) }
  /// all.whenSucceeded(on: .main) { results in
  ///   let failed = results.filter { (try? $0.get()) == nil }
  ///   label.text = "\(failed.count) of \(results.count) failed"
  /// }
  /// ```
  ///
  /// `start` runs as that of `concurrent`. The progress is the average of the items.
  ///
  /// Cancellation: cancelling the future starts no further item. Running items are left, so they are cancelled if nothing else
  /// waits for them (R16). The future then succeeds with the results: an item that did not start is a failure with
  /// `CancellationError`. A running item with another consumer is not cancelled, and `Future.never` cannot be. The future waits
  /// for such an item, whose own result then counts. A cancelled task that awaits `value` waits for all items, because the
  /// future cannot fail: `try await value(onCancel: .cancel)` stops them.
  /// - Parameters:
  ///   - items: The items.
  ///   - limit: The maximum number of running items. Less than 1 traps.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the results, in the order of the items. Without items it resolves at once with an empty array.
  @_alwaysEmitIntoClient
  public static func concurrentSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Result<Value, Failure>], Never> {
    runSettled(items, limit: limit, start)
  }
}

extension Future where Failure: CancellableFailure {
  /// Runs the items, at most `limit` at any time, and collects each result, whatever fails.
  ///
  /// As the overload for `any Error`, which shows an example. An item that did not start is a failure with `Failure.cancelled`.
  @_alwaysEmitIntoClient
  public static func concurrentSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Result<Value, Failure>], Never> {
    runSettled(items, limit: limit, start)
  }
}

extension Future where Failure == CancellationError {
  /// Runs the items, at most `limit` at any time, and collects each result, whatever is cancelled.
  ///
  /// As the overload for `any Error`, which shows an example. An item that did not start is a failure with `CancellationError`.
  @_alwaysEmitIntoClient
  public static func concurrentSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Result<Value, Failure>], Never> {
    runSettled(items, limit: limit, start)
  }
}

extension Future {
  /// Does the work of the public overloads: after a cancellation, each further item fails at once, without a call of `start`.
  @_alwaysEmitIntoClient
  static func runSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Result<Value, Failure>], Never> {
    require(limit >= 1, "Future.concurrentSettled needs a limit of at least 1, but limit is \(limit).")
    let derived = State<[Result<Value, Failure>], Never>()
    return Future<Result<Value, Failure>, Never>.run(items, limit: limit, resolving: derived) { item in
      if derived.wasCancelled, let cancelled = Cancelled<Failure>.failure { return .succeeded(.failure(cancelled)) }
      return start(item).materialize()
    }
  }
}
