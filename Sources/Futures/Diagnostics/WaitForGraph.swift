/// A snapshot of the dependencies between pending callbacks, futures and tasks.
///
/// The nodes are producers (promises, tasks, timers, wrapped callbacks) and the objects that wait for them (derived futures,
/// callbacks, awaits). An edge leads from a node that waits to the node that it waits for. So a circle of edges is a deadlock,
/// unless one of its nodes can end in another way: see `cycles`.
///
/// `description` is the text for a person.
public struct WaitForGraph: Sendable, Hashable {
  /// A producer, or an object that waits for one.
  public struct Node: Sendable, Hashable, Identifiable {
    /// The kind of a node.
    public enum Kind: String, Sendable, CaseIterable {
      /// A promise, which other code has to resolve.
      case promise
      /// The future of a task: `Future { }`.
      case task
      /// A delay or a timeout, which ends at a time.
      case timer
      /// A call of `withCallback`.
      case wrappedCallback
      /// A sequence of `callbackStream`.
      case callbackStream
      /// A transfer of FuturesFoundation.
      case request
      /// A future of several futures: `all`, `zip`, `race`, `concurrent`.
      case join
      /// A derived future: `map`, `flatMap`, `timeout`, a promise that follows another future.
      case stage
      /// A callback or a transform that an execution context got and has not finished.
      case work
      /// A callback that waits for the result.
      case callback
      /// A task that awaits the future.
      case await
      /// A thread that `wait()` blocks.
      case blockedThread
      /// A future whose producer was not tracked.
      case future
    }

    /// How far a node is.
    public enum State: String, Sendable, CaseIterable {
      /// It waits, or its producer works.
      case pending
      /// A lazy future without a consumer.
      case notStarted
      /// The promise follows another future.
      case following
      /// The program released the promise, and the failure type cannot hold `BrokenPromise`. It stays pending for ever.
      case broken
      /// It is resolved, and a thread runs its callbacks.
      case delivering
      /// The execution context got the work and has not started it.
      case enqueued
      /// The execution context runs the work.
      case running
      /// Another thread used the node during the snapshot.
      case busy
    }

    /// Identifies the node in its graph; a promise has the same identity in each graph.
    public internal(set) var id: Int
    /// The kind of the node.
    public internal(set) var kind: Kind
    /// How far the node is.
    public internal(set) var state = State.pending
    /// The label of the promise, the name of the task, the URL of the request.
    public internal(set) var label: String?
    /// The operator of a stage, for example "map"; several names if the node stands for different stages.
    public internal(set) var operation: String?
    /// The types of a stage, for example "Data → Article".
    public internal(set) var types: String?
    /// The file that made the node, as `#fileID`, if it is known.
    public internal(set) var fileID: String?
    /// The line that made the node, if it is known.
    public internal(set) var line: Int?
    /// The execution context of a callback, a stage or a timer; the main actor of a task, the main queue of a blocked thread.
    public internal(set) var context: String?
    /// The age in seconds, if the node was tracked from its beginning.
    public internal(set) var age: Double?
    /// The time in seconds until the timer fires; negative if it is late.
    public internal(set) var dueIn: Double?
    /// The fraction of the work that is done, if it was reported.
    public internal(set) var progress: Double?
    /// Whether it was cancelled, and has not ended since.
    public internal(set) var isCancelled = false
    /// The number of stages or callbacks for which the node stands.
    public internal(set) var count = 1
    /// Whether the future has more consumers than the first 2,000, which the snapshot has visited.
    ///
    /// Its other stages and callbacks are not in the graph, and `count` of its callbacks is a minimum: they have `hasMore`, too.
    public internal(set) var hasMore = false

    init(id: Int, kind: Kind) {
      self.id = id
      self.kind = kind
    }
  }

  /// A dependency: one node waits for another.
  public struct Edge: Sendable, Hashable {
    /// The identity of the node that waits.
    public internal(set) var waiter: Node.ID
    /// The identity of the node that it waits for.
    public internal(set) var awaited: Node.ID
  }

  /// The nodes; tracked ones first, the oldest first.
  public internal(set) var nodes: [Node] = []
  /// The edges.
  public internal(set) var edges: [Edge] = []
  /// The circles: each node waits for the next one, and the last one for the first.
  ///
  /// Nothing in a circle ever ends. So a circle of edges is not here if a timeout, a token or another input of a race can end
  /// one of its nodes. A circle through `all` is here: another input can only make it fail. If the graph is not complete, what
  /// it does not have was not searched.
  public internal(set) var cycles: [[Node.ID]] = []
  /// Whether the graph has everything that is tracked.
  ///
  /// `false` in each of these cases:
  /// - It would have more than 10,000 nodes.
  /// - A future has more than 2,000 consumers: the node has `hasMore`. Only its awaits are all there.
  /// - Another thread used a node during the snapshot: the node is `busy`, and its consumers can be missing.
  /// - Another thread kept the table of pending futures locked.
  /// - Nothing was tracked: `isTracking` is `false`.
  public internal(set) var isComplete = true
  /// Whether pending futures were tracked; else the graph is empty, whatever is pending.
  public internal(set) var isTracking = true

  init() {}

  /// The node with an identity.
  public subscript(id: Node.ID) -> Node? { nodes.first { $0.id == id } }
}

extension FuturesDiagnostics {
  /// A snapshot of everything that is pending and was made while `tracksPendingFutures` was `true`.
  ///
  /// ```swift
  /// FuturesDiagnostics.tracksPendingFutures = true
  /// print(FuturesDiagnostics.graph)
  /// ```
  ///
  /// Any thread can call it at any time. It waits for no lock of a future: a node that is in use at this moment
  /// is `busy`. For the table of pending futures it waits up to about a second. Nothing is formatted under a lock. The
  /// snapshot keeps futures alive while it reads them. So it can release the last reference to one, with its callbacks.
  ///
  /// O(number of pending futures, stages, callbacks and awaits).
  public static var graph: WaitForGraph { graph(since: nil, ofThread: nil) }
}
