package import Dispatch

extension FuturesDiagnostics {
  /// Makes the graph of the objects that were made since `start` and by `thread`; `nil` sets no limit, as in the property `graph`.
  package static func graph(since start: DispatchTime?, ofThread thread: UnsafeMutableRawPointer?) -> WaitForGraph {
    // One load, without the lock of the table.
    guard mayTrackPendingFutures else {
      var graph = WaitForGraph()
      (graph.isTracking, graph.isComplete) = (false, false)
      return graph
    }
    guard let objects = PendingFutures.shared.objects(since: start, ofThread: thread) else {
      // Another thread has kept the table locked for about a second, and diagnostics must not block.
      var graph = WaitForGraph()
      graph.isComplete = false
      return graph
    }
    var builder = GraphBuilder(objects)
    return builder.build()
  }
}

/// Makes a graph: first from the tracked objects, then along the lists of consumers.
///
/// It reads one state at a time under its lock, without waiting, and does all the rest without a lock. Other threads change
/// the states meanwhile. So the graph is a snapshot of each state, and not of all at the same time.
struct GraphBuilder {
  typealias Node = WaitForGraph.Node

  static let maximumNodes = 10_000
  /// A chain that changes during the walk could otherwise lead in a circle.
  private static let maximumChain = 10_000_000

  var graph = WaitForGraph()
  let tracked: [TrackedObject]
  /// Whether the graph has as many nodes as it can have.
  private var isFull = false
  /// The positions in `tracked` of the objects' entries.
  private let entries: [ObjectIdentifier: Int]
  private let now = DispatchTime.now()
  /// The number of the next node without an entry; entries have the lower numbers.
  private var nextID: Int
  private var names = StageNames()

  /// The index of the node of each state and waiter; of a run of stages, which has one node, only the last stage is here.
  var indices: [ObjectIdentifier: Int] = [:]
  /// Keeps the objects behind `indices` alive, so that no new object gets the address of one.
  private var kept: [AnyObject] = []
  /// The states whose consumers are not in the graph yet.
  private var unvisited: [(state: FutureState, snapshot: StateSnapshot, index: Int)] = []
  private var edges: Set<WaitForGraph.Edge> = []
  /// The nodes of the states that tasks resolve.
  var statesOfTasks: [UnsafeRawPointer: Int] = [:]
  /// The nodes that suspend a task.
  private var waitsOfTasks: [(task: UnsafeRawPointer, index: Int)] = []
  /// The broken states: those that one dropped promise has broken share the object `reason`; `isOrigin` marks its own state.
  private var broken: [(index: Int, reason: BreakReason, isOrigin: Bool)] = []
  /// The nodes that need none of the nodes that they wait for, or only one of them.
  private var ends = WaitForGraph.Ends()
  /// The states of joins, with their inputs.
  private var joins: [(index: Int, inputs: [FutureState])] = []

  init(_ tracked: [TrackedObject]) {
    self.tracked = tracked
    // Each object has one entry. If an object had several, the last one would count, as in `PendingFutures.position(of:)`.
    let positions = tracked.enumerated().map { (ObjectIdentifier($1.object), $0) }
    entries = Dictionary(positions, uniquingKeysWith: max)
    nextID = (tracked.last?.entry.id ?? 0) + 1  // the entries come in the order of their numbers
  }

  /// Adds the tracked objects with their consumers, then awaits and joins, then finds the circles.
  mutating func build() -> WaitForGraph {
    for (entry, object, _) in tracked where !isFull {
      if let state = entry.state(object) {
        if isShown(state, entry) { _ = node(of: state) }
      } else if entry.kind == .wrappedCallback || entry.kind == .callbackStream {
        if let site = object as? any PendingSite { addSite(site, entry) }
      } else if entry.kind == .work, let work = object as? TrackedWork, let state = work.nodeState {  // has not ended
        _ = add(.work, entry) { $0.state = state }
      }
    }
    visitStates()
    addAwaits()
    addJoins()  // also those to which only an await has led
    connectBroken()
    // The future of a task waits for the futures that the task awaits.
    for (task, index) in waitsOfTasks {
      if let future = statesOfTasks[task] { connect(future, waitsFor: index) }
    }
    graph.edges = edges.sorted { ($0.awaited, $0.waiter) < ($1.awaited, $1.waiter) }
    graph.findCycles(ends)  // `ends`: the nodes that do not need all the nodes that they wait for
    return graph
  }

  /// Whether the graph shows a tracked state: it is pending or broken, or its callbacks still run.
  private func isShown(_ state: FutureState, _ entry: PendingEntry) -> Bool {
    if state.isBroken { return true }
    switch state.currentPhase {
    case .pending, .following: return true
    // An orphan, which only a cancellation can resolve, has no producer that could be late.
    case .orphaned, .resolved: return false
    // Submitted work and a timer end when they resolve their state. Other entries end when the callbacks of the state have run.
    case .due, .delivering, .closing: return entry.kind != .work && entry.kind != .timer
    }
  }

  // MARK: - Nodes

  /// Adds a node, filled from its entry and then by `change`; sets `isFull` if no other node fits.
  /// - Returns: The index of the node.
  mutating func add(_ kind: Node.Kind, _ entry: PendingEntry? = nil, _ change: (inout Node) -> Void = { _ in }) -> Int {
    var node = Node(id: entry?.id ?? nextID, kind: kind)
    if let entry {
      node.label = entry.label
      node.fileID = entry.fileID.map { String(cString: $0) }
      node.line = entry.fileID == nil ? nil : Int(entry.line)
      node.age = Self.seconds(from: entry.start, to: now)
      // `distantFuture` stands for a timer that never fires.
      if let due = entry.due, due != .distantFuture { node.dueIn = Self.seconds(from: now, to: due) }
      node.context = entry.context.map(Self.name)
    } else {
      nextID += 1
    }
    change(&node)
    graph.nodes.append(node)
    if graph.nodes.count >= Self.maximumNodes { (isFull, graph.isComplete) = (true, false) }
    return graph.nodes.count - 1
  }

  /// Adds an edge between two nodes, which are given by their indices.
  mutating func connect(_ waiter: Int, waitsFor awaited: Int) {
    edges.insert(.init(waiter: graph.nodes[waiter].id, awaited: graph.nodes[awaited].id))
  }

  private static func seconds(from start: DispatchTime, to end: DispatchTime) -> Double {
    (Double(end.uptimeNanoseconds) - Double(start.uptimeNanoseconds)) / 1e9
  }

  private func entry(of object: AnyObject) -> PendingEntry? {
    entries[ObjectIdentifier(object)].map { tracked[$0].entry }  // `nil`: the object is not tracked
  }

  // MARK: - Tracked objects

  /// Adds the node of a `withCallback` or of a callback stream, unless it has ended.
  private mutating func addSite(_ site: any PendingSite, _ entry: PendingEntry) {
    switch site.pendingStatus {
    case .ended: return
    case .busy:
      // Another thread has the lock of the site, so what the site waits for is unknown.
      _ = add(entry.kind, entry) { $0.state = .busy }
      graph.isComplete = false
    case .pending(let isCancelled, let task):
      let index = add(entry.kind, entry) { $0.isCancelled = isCancelled }
      guard let task else { return }  // a callback stream, or a `withCallback` that a thread cancels now
      waitsOfTasks.append((task, index))
    }
  }

  /// Notes the node of an object, and keeps the object alive, so that no new object gets its identifier.
  private mutating func setNode(of object: AnyObject, to index: Int) {
    indices[ObjectIdentifier(object)] = index
    kept.append(object)
  }

  /// Returns the node of a state, which it adds if needed.
  private mutating func node(of state: FutureState) -> Int {
    if let index = indices[ObjectIdentifier(state)] { return index }
    return addState(state, StateSnapshot(state), as: nil)  // `nil`: the state itself gives the name
  }

  /// Adds the node of a state; `visitStates()` later adds the consumers of the state.
  ///
  /// With `name`, the node stands for a run of stages that ends with the state. Without it, the name comes from the state.
  /// Without a snapshot, because another thread keeps the lock, the node is `busy`. The state's constants still give a name.
  private mutating func addState(_ state: FutureState, _ snapshot: StateSnapshot?, as name: StageNames.Name?) -> Int {
    let entry = entry(of: state)
    let name = name ?? names.name(of: state, snapshot?.facts ?? NodeFacts(of: state))
    let kind = entry?.kind ?? (name == nil ? .future : .stage)
    let index = add(kind, entry) { node in (node.operation, node.types) = (name?.operation, name?.types) }
    setNode(of: state, to: index)
    guard let snapshot else {
      graph.nodes[index].state = .busy
      graph.isComplete = false
      return index
    }
    describe(index, state, snapshot)
    unvisited.append((state, snapshot, index))
    return index
  }

  /// Fills the node of a state with the data of the state's snapshot.
  private mutating func describe(_ index: Int, _ state: FutureState, _ snapshot: StateSnapshot) {
    graph.nodes[index].isCancelled = snapshot.isCancelled
    graph.nodes[index].progress = snapshot.progress
    if let label = snapshot.label { graph.nodes[index].label = label.text }
    if let reason = state.breakReason {
      graph.nodes[index].state = .broken
      kept.append(reason)  // its address is a key in `connectBroken()`
      let isOrigin = entry(of: state) != nil  // a tracked state: usually that of the dropped promise
      broken.append((index, reason, isOrigin))
    } else {
      switch snapshot.phase {
      case .pending where snapshot.isDormant: graph.nodes[index].state = .notStarted
      case .pending, .orphaned, .resolved: break  // shown as pending, also if resolved a moment ago
      case .following: graph.nodes[index].state = .following
      case .due, .delivering, .closing: graph.nodes[index].state = .delivering
      }
    }
    if graph.nodes[index].kind == .work, graph.nodes[index].state != .broken {  // broken work does not run any more
      switch state.currentStatus {  // the status as a consumer, `finished` once the context has started the transform
      case .submitted: graph.nodes[index].state = .enqueued
      case .finished: graph.nodes[index].state = .running
      default: graph.nodes[index].kind = .stage  // the transform has run: the stage waits for the future that it made
      }
    }
    let facts = snapshot.facts
    if let task = facts.task {
      statesOfTasks[task] = index
      if state.has(.needsMainActor) { graph.nodes[index].context = "the main actor" }
    }
    if facts.canEndWithoutSource { ends.byThemselves.insert(graph.nodes[index].id) }  // by a timeout or a token
    if facts.endsWithOneInput { ends.withOneInput.insert(graph.nodes[index].id) }
    if facts.inputs == nil { graph.isComplete = false }  // another thread has the lock of the join
    if let inputs = facts.inputs, !inputs.isEmpty { joins.append((index, inputs)) }
  }

  // MARK: - Consumers

  /// Adds the consumers of the states in `unvisited`, also of states that this loop puts there.
  private mutating func visitStates() {
    while let (state, snapshot, index) = unvisited.popLast() {
      guard !isFull else { return unvisited = [] }
      addConsumers(of: state, snapshot, index)
    }
  }

  /// Adds the listed consumers of a state, which then wait for the state's node.
  private mutating func addConsumers(of state: FutureState, _ snapshot: StateSnapshot, _ index: Int) {
    var callbacks: [AnyHashable?: Int] = [:]
    for listed in snapshot.consumers {
      let (consumer, facts) = (listed.consumer, listed.facts)
      switch listed.kind {
      case .progress, .input: continue  // the graph has no listeners, and a join is a node of its own
      case .waiter: addWaiter(consumer, facts, waitingFor: index)
      case .inline, .follower, .shield, .queued, .custom:
        // A promise's state stores its first callback itself. So the state in its own list is a callback, and no stage.
        if consumer !== state, let stage = consumer as? FutureState {
          addStages(startingAt: stage, facts, waitingFor: index)
          continue
        }
        // Callbacks with one context are one node.
        let context = facts.context.map(Self.identity)
        if let callback = callbacks[context] {
          graph.nodes[callback].count += 1
        } else {
          let callback = add(.callback) { $0.context = facts.context.map(Self.name) }
          callbacks[context] = callback
          connect(callback, waitsFor: index)
        }
      }
    }
    guard !snapshot.isComplete else { return }
    graph.isComplete = false  // the list is longer than the snapshot
    for node in [index] + callbacks.values { graph.nodes[node].hasMore = true }
  }

  /// Adds the node of a suspended task or of a blocked thread, which waits for the node at `index`.
  private mutating func addWaiter(_ waiter: Consumer, _ facts: NodeFacts, waitingFor index: Int) {
    let task = facts.task
    let kind = task == nil ? Node.Kind.blockedThread : .await
    let node = add(kind, entry(of: waiter)) { $0.context = facts.context.map(Self.name) }  // only for the main thread
    setNode(of: waiter, to: node)
    connect(node, waitsFor: index)
    if let task { waitsOfTasks.append((task, node)) }
  }

  /// Adds the stages of a chain that waits for the node at `index`.
  ///
  /// One node stands for a *run*: neighbouring stages of one operator. So that a long chain has few nodes, a run after the
  /// first eight can have different operators. This is a loop, because a recursion could overflow the stack. Only the last
  /// stage of each run is kept alive.
  private mutating func addStages(startingAt first: FutureState, _ facts: NodeFacts, waitingFor index: Int) {
    var (awaitedNode, stage, facts) = (index, first, facts)
    var (nodeCount, stageCount) = (0, 0)  // `stageCount` ends the walk of a chain that changes
    while true {
      let target = stage.target  // the state that the stage resolves
      if let known = indices[ObjectIdentifier(target)] { return connect(known, waitsFor: awaitedNode) }  // added before
      var name = names.name(of: stage, facts) ?? StageNames.Name(operation: "future")  // unused: each stage has a name
      var (state, snapshot) = (target, StateSnapshot(target))  // of the last stage of the run
      var count = 1
      var hasEarlyEnd = false  // whether a stage before the last one can end without its source
      var operations = [name.operation]  // of the run, each once
      // Extends the run, while its node can stand for the next stage, too.
      while let next = plainStage(after: state, snapshot), stageCount < Self.maximumChain {
        guard let nextName = names.name(of: next.state, next.facts) else { break }
        if !operations.contains(nextName.operation) {
          guard nodeCount >= 8 else { break }  // the first eight runs mix no operators
          operations.append(nextName.operation)
        }
        if nextName.types != name.types { name.types = nil }  // shown only if all have the same
        count += 1
        stageCount += 1
        if snapshot?.facts.canEndWithoutSource == true { hasEarlyEnd = true }  // of the stage before `next`
        (state, snapshot) = (next.state, StateSnapshot(next.state))
      }
      if operations.count > 1 { name = StageNames.Name(operation: operations.joined(separator: ", ")) }
      let node = addState(state, snapshot, as: name)  // notes whether the last stage can end early
      graph.nodes[node].count = count
      if hasEarlyEnd { ends.byThemselves.insert(graph.nodes[node].id) }
      connect(node, waitsFor: awaitedNode)
      // `addState` has put `state` into `unvisited`. If no run follows, `visitStates()` adds the consumers of `state` from there.
      guard let next = plainStage(after: state, snapshot), stageCount < Self.maximumChain else { return }
      _ = unvisited.popLast()  // removes `state`: this loop adds its only consumer, which begins the next run
      nodeCount += 1
      (awaitedNode, stage, facts) = (node, next.state, next.facts)
    }
  }

  /// Returns the stage that is the only consumer of `state`, if one node can stand for both.
  ///
  /// The node shows only the last stage's data, so `state` must not be cancelled. The stage is pending, without entry or node.
  private func plainStage(
    after state: FutureState,
    _ snapshot: StateSnapshot?
  ) -> (state: FutureState, facts: NodeFacts)? {
    guard let snapshot, !snapshot.isCancelled, let next = snapshot.onlyStage(of: state) else { return nil }
    // A stage that resolves a promise's state is no plain stage, because the chain goes on from that state, the stage's `target`.
    guard next.state.target === next.state, next.state.currentPhase == .pending, entry(of: next.state) == nil else {
      return nil
    }
    return indices[ObjectIdentifier(next.state)] == nil ? next : nil
  }

  // MARK: - Joins and awaits

  /// Connects the joins with their inputs, whose states can add further joins during the loop.
  private mutating func addJoins() {
    var next = 0
    while next < joins.count {
      let (index, inputs) = joins[next]
      next += 1
      for input in inputs.prefix(Self.maximumNodes) where !isFull {  // `prefix` bounds the edges, `isFull` the nodes
        guard !input.isResolved else {
          // The input's result is about to arrive. If one result is enough for the join, the join ends by itself.
          let id = graph.nodes[index].id
          if ends.withOneInput.contains(id) { ends.byThemselves.insert(id) }
          continue
        }
        connect(index, waitsFor: node(of: input))
      }
      visitStates()
    }
  }

  /// Adds the tracked awaits that have no node yet.
  ///
  /// The future of such an await is broken and lists no consumers, or its list is cut short, or no tracked object leads to it.
  private mutating func addAwaits() {
    for (entry, object, source) in tracked where entry.kind == .await && !isFull {
      guard indices[ObjectIdentifier(object)] == nil, let source else { continue }
      let isBroken = source.isBroken
      guard isBroken || source.isPending else { continue }
      let index = node(of: source)
      // Adds the await if its future lists it. The rest is for a broken future, or for a list that was cut short (`hasMore`).
      visitStates()
      guard isBroken || graph.nodes[index].hasMore, indices[ObjectIdentifier(object)] == nil else { continue }
      guard let waiter = object as? Consumer else { continue }
      // The status of a waiter that still waits. A broken future moves its waiters from `listed` to `submitted`.
      let status: Consumer.Status = isBroken ? .submitted : .listed
      let reading = source.underLockIfAvailable {
        waiter.currentStatus == status ? NodeFacts(of: waiter, isListed: true).task : nil
      }
      let task = reading ?? nil  // makes one optional of two; `nil` if the lock is taken, or the waiter no longer waits
      guard isBroken || task != nil else { continue }  // broken: the task waits, unless it was cancelled just now
      let node = add(.await, entry)
      setNode(of: object, to: node)
      connect(node, waitsFor: index)
      if let task { waitsOfTasks.append((task, node)) }
    }
  }

  /// Connects the states that were derived from a broken promise with the promise, which no longer lists them.
  ///
  /// All of them have one object as their reason. If the promise has no node, their nodes get its label, file and line.
  private mutating func connectBroken() {
    var origins: [ObjectIdentifier: Int] = [:]
    for (index, reason, isOrigin) in broken where isOrigin { origins[ObjectIdentifier(reason)] = index }
    for (index, reason, isOrigin) in broken where !isOrigin {
      if let origin = origins[ObjectIdentifier(reason)] {
        connect(index, waitsFor: origin)
      } else if let error = reason.error {  // there is one, because a state without an error becomes an orphan
        (graph.nodes[index].label, graph.nodes[index].fileID) = (error.label, error.fileID)
        graph.nodes[index].line = Int(error.line)
      }
    }
  }
}
