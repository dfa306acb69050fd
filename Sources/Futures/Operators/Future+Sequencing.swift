extension Future {
  /// Runs the items one after another, and fails with the first failure.
  ///
  /// Each item starts after the success of the previous one. `start` runs for the first item at once, on the calling
  /// thread. For each other item it runs on the thread that resolved the previous future. A million items that complete
  /// at once take no stack.
  /// - Parameters:
  ///   - items: The items.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. Without items it resolves at once with an empty
  ///   array. Cancelling it leaves the running item and starts no more. If `Failure` cannot represent cancellation, the
  ///   other items still start, and are left at once.
  @inlinable
  public static func serial<Item: Sendable>(
    _ items: some Collection<Item>,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    concurrent(items, limit: 1, start)
  }

  /// Runs the items, at most `limit` at any time, and fails with the first failure.
  ///
  /// The first failure leaves the other running items, and no more items start. `start` runs in the order of the items,
  /// and never on two threads at the same time. It runs when a slot is free. The first calls are on the calling thread,
  /// later ones on the thread that resolved an item's future. A million items that complete at once take no stack.
  /// - Parameters:
  ///   - items: The items.
  ///   - limit: The maximum number of running items. Less than 1 traps.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. Without items it resolves at once with an empty
  ///   array. Cancelling it leaves the running items and starts no more. If `Failure` cannot represent cancellation,
  ///   the other items still start, and are left at once.
  @inlinable
  public static func concurrent<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    require(limit >= 1, "Future.concurrent needs a limit of at least 1, but limit is \(limit).")
    let derived = State<[Value], Failure>()
    let queue = ItemQueue(items, limit: limit, resolving: derived, start)
    derived.setProducer(.inputs(queue))
    if FuturesDiagnostics.mayTrackPendingFutures { derived.trackJoin() }
    queue.startItems(in: nil)
    return Future<[Value], Failure>(derived)
  }
}
