extension Future {
  /// Starts one item after another, each when the one before it has succeeded; the first failure ends it.
  ///
  /// `start` is called for the first item at once, on the calling thread, and for each other on the thread that resolved the
  /// future of the one before it. A million items that complete at once take no stack.
  /// - Parameters:
  ///   - items: What is to be done.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. No items: an empty array, at once.
  ///   Cancelling it leaves what is under way and starts nothing more; where `Failure` cannot say "cancelled", the other items
  ///   are still started, and left at once.
  @inlinable
  public static func serial<Item: Sendable>(
    _ items: some Collection<Item>,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    concurrent(items, limit: 1, start)
  }

  /// Starts items so that at most `limit` of them are under way at any time; the first failure ends it, and leaves the others.
  ///
  /// `start` is called in the order of the items, never twice at the same time, and only when it is an item's turn: first on
  /// the calling thread, then on a thread that resolved the future of an item. A million items that complete at once take
  /// no stack.
  /// - Parameters:
  ///   - items: What is to be done.
  ///   - limit: How many items may be under way at the same time; less than 1 traps.
  ///   - start: Starts the work on one item.
  /// - Returns: A future of the values, in the order of the items. No items: an empty array, at once.
  ///   Cancelling it leaves what is under way and starts nothing more; where `Failure` cannot say "cancelled", the other items
  ///   are still started, and left at once.
  @inlinable
  public static func concurrent<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    _ start: @escaping @Sendable (Item) -> Future
  ) -> Future<[Value], Failure> {
    precondition(limit >= 1, "concurrent needs a limit of at least 1, and was given \(limit).")
    let derived = State<[Value], Failure>(hasPromise: false)
    let queue = ItemQueue(items, limit: limit, resolving: derived, start)
    derived.details = .inputs(queue)  // nobody else has the derived state yet
    queue.startItems(in: nil)
    return Future<[Value], Failure>(derived)
  }
}
