internal import AllocationCounter
internal import Futures
internal import Testing

/// A program whose graph, or list of pending futures, a test examines.
private struct Scene: Sendable {
  let name: String
  /// Whether the library tracks the program from its beginning.
  let isTracked: Bool
  let run: @Sendable () throws -> Void

  init(_ name: String, isTracked: Bool = true, _ run: @escaping @Sendable () throws -> Void) {
    (self.name, self.isTracked, self.run) = (name, isTracked, run)
  }

  static let all = always + ofAllocations + ofLocks

  private static let always = [
    Scene("A transform on a queue has not started, and then has not returned", GraphNodeScenes.submittedWork),
    Scene("A callback that blocks its queue has not returned", GraphNodeScenes.blockedCallback),
    Scene("A wrapped callback whose lock another thread has is busy; an ended one is absent", GraphNodeScenes.sites),
    Scene("A promise that follows `never` has no producer, and is absent", GraphNodeScenes.orphan),
    Scene("No label or name can forge a line: each control character is escaped", GraphNodeScenes.oneLine),
    Scene("Callbacks on one global queue, or on the main queue, are one node", GraphNodeScenes.contexts),
    Scene("A retry has the place of its caller", GraphNodeScenes.retry),
    Scene("The oldest producer is the first in the text", GraphNodeScenes.order),
    Scene("The test kit gets what one thread made, and since when it wants", GraphNodeScenes.scope),
    Scene("A circle is one if no timeout, token or input outside can end it", GraphCycleScenes.circles),
    Scene("Each operator has its name, also in a run of different stages", GraphTextScenes.operators),
    Scene("The text begins with the circles, and their nodes have a mark", GraphTextScenes.circle),
    Scene("A promise that is cancelled or delivers says so", GraphTextScenes.promises),
    Scene("Stages, callbacks, timers and joins wait for their promise", WaitForGraphScenes.kinds),
    Scene("A chain of a million stages is one node for each operator, in one line", WaitForGraphScenes.foldsChains),
    Scene("A following promise, a cancelled one and dropped work say so", WaitForGraphScenes.states),
    Scene("A snapshot is bounded, says so, and hides no other future", WaitForGraphScenes.bounds),
    Scene("Snapshots while eight threads resolve, attach and cancel are safe", WaitForGraphScenes.race),
    Scene("R29: circles go through a cache, shared work, and a limit without a free slot", SharedWorkScenes.circles),
    Scene("R29: each caller has an edge to the shared work", SharedWorkScenes.edges),
    Scene("A follower is listed; a cancelled or broken future is not", PendingFuturesScenes.ends),
    Scene("A released future is not read, although the table has its memory", PendingFuturesScenes.releasedObjects),
    Scene("R2a: tracked work breaks its future if its context is dropped", PendingFuturesScenes.droppedContext),
    Scene("The test kit sees the awaited futures of a time or a thread", PendingFuturesScenes.awaitedFutures),
    Scene("A future made before tracking has no producer", isTracked: false, GraphTextScenes.untracked),
    Scene("Futures are listed by label, place, age and consumers", isTracked: false, PendingFuturesScenes.list),
    Scene("The kit tracks its own thread, unseen", isTracked: false, PendingFuturesScenes.tracksOneThread),
  ]

  private static let ofAllocations =
    AllocationCounts.areSupported
    ? [
      Scene("A tracked promise costs one allocation more", isTracked: false, WaitForGraphScenes.cost),
      Scene("The table shrinks when many futures were pending at once", PendingFuturesScenes.tableShrinks),
    ] : []

  #if DEBUG
    private static let ofLocks = [
      Scene("A graph waits for no lock, and says what is in use", GraphLockScenes.waitsForNoLock),
      Scene("A lazy future has not started, and a timer after its time is late", GraphLockScenes.unstartedAndLate),
      Scene("Off, there is no table, and nothing makes one", isTracked: false, GraphLockScenes.off),
    ]
  #else
    private static let ofLocks: [Scene] = []
  #endif
}

struct GraphTests {
  // In separate processes, because the graph shows the futures of other tests, too.
  @Test("The graph, its text and the list of pending futures", arguments: Scene.all.map(\.name))
  func scene(name: String) async {
    await #expect(processExitsWith: .success) { [name] in
      let scene = try #require(Scene.all.first { $0.name == name })
      if scene.isTracked { FuturesDiagnostics.tracksPendingFutures = true }
      try scene.run()
    }
  }

  @Test("`po` in LLDB writes the text alone, because the mirror of a graph has no children")
  func mirror() { #expect(Mirror(reflecting: FuturesDiagnostics.graph).children.isEmpty) }
}
