// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import Futures

  enum GraphLockScenes {
    static func waitsForNoLock() {
      // A graph that waits for this thread's own lock would wait for ever.
      alarm(60)
      let (promise, line) = (Promise<Int, Never>("in use"), #line)
      let mapped = promise.future.map { $0 + 1 }
      let busy = promise.state.underLock { FuturesDiagnostics.graph }
      // The lock protects the label.
      #expect(busy.nodes.map(\.line) == [line])
      #expect(busy.nodes.first?.state == .busy)
      #expect(busy.description.contains("in use by another thread at this moment"))
      let locked = PendingFutures.shared.update { _ in FuturesDiagnostics.graph }
      #expect(!locked.isComplete)
      #expect(locked.description == "The table is in use.\n")
      #expect(FuturesDiagnostics.graph.nodes.map(\.state) == [.pending, .pending])
      promise.succeed(1)
      _ = mapped
    }

    static func unstartedAndLate() {
      let lazy = Future<Int, Never>.lazy { _ in }
      guard case .sharedState(let state) = lazy.storage else { fatalError("A lazy future has a state.") }
      PendingFutures.shared.add(.promise, state, label: "lazy")
      var node = FuturesDiagnostics.graph.nodes[0]
      #expect(node.state == .notStarted)
      (node.kind, node.state, node.dueIn) = (.timer, .pending, -2.5)
      #expect(node.description.hasSuffix(", late by 2.5 s"), "\(node)")
    }

    static func off() {
      let promise = Promise<Int, any Error>("off")
      let future = promise.future.map { $0 + 1 }.timeout(after: .seconds(3_600))
      future.whenResolved(on: .global()) { _ in }
      Future.after(.seconds(3_600)).cancel()
      promise.succeed(1)
      #expect(!FuturesDiagnostics.mayTrackPendingFutures)
      FuturesDiagnostics.tracksPendingFutures = true
      #expect(FuturesDiagnostics.mayTrackPendingFutures)
      FuturesDiagnostics.tracksPendingFutures = false
      #expect(!FuturesDiagnostics.mayTrackPendingFutures)
      let graph = FuturesDiagnostics.graph
      #expect(graph.nodes.isEmpty && !graph.isTracking && !graph.isComplete)
      #expect(graph.description.hasPrefix("Nothing is tracked: FuturesDiagnostics.tracksPendingFutures is false."))
    }
  }
#endif
