internal import TestSupport
internal import Testing

/// The orders with at most the given number of preemptions, or every order in the exhaustive tier.
private func preemptions(standard: Int, thorough: Int) -> Thoroughness {
  TestTier.current == .exhaustive ? .everyOrder : .preemptions(TestTier.choose(standard: standard, thorough: thorough))
}

/// The search of two threads with one operation each: every order, and every older value with one preemption.
///
/// One search with both bounds would take too long for these futures.
private let shortSearches: [Thoroughness] = TestTier.choose(
  standard: [.preemptions(1)],
  thorough: TestTier.current == .exhaustive ? [.everyOrder] : [.everyOrderOfNewestValues, .preemptions(1)]
)

/// The search of longer programs: all orders with this number of preemptions, and every older value without a
/// preemption.
private func longSearches(preemptions: Int) -> [Thoroughness] {
  switch TestTier.current {
  case .standard: [.preemptions(0)]
  case .thorough: [.preemptions(preemptions, staleLoads: 0), .preemptions(0)]
  case .exhaustive: [.everyOrder]
  }
}

/// In the first world a cancelled future ends; in the second world a cancelled future still waits for its result.
typealias CancellableWorld = FutureWorld<any Error>
typealias WaitingWorld = FutureWorld<BrokenPromise>

#if ASAN
  /// Whether a program may leak; LeakSanitizer would report the callbacks that a planted bug loses.
  private let mayLeak = false
#else
  private let mayLeak = true
#endif

#if TSAN
  /// Semaphores order all steps of the explorer, so ThreadSanitizer would see no two threads at work.
  private let isUseful = false
#else
  private let isUseful = true
#endif

@Suite("Every interleaving of the steps of the core", .enabled(if: isUseful), .timeLimit(.minutes(20)))
struct ExplorationTests {
  @Test("R1-R5, R7, R15-R18, R20, R22: two threads with one operation each cause no fault")
  func twoThreads() async {
    let programs = selections(of: 2, from: FutureOperation.common.map { [$0] })
    for orders in shortSearches {
      await Self.expectNoFault(explore(programs, in: CancellableWorld.self, FutureShape.fixed, orders))
    }
  }

  @Test("R1-R5, R7, R15-R18, R20, R22: three threads with one operation each cause no fault")
  func threeThreads() async {
    let programs = selections(of: 3, from: FutureOperation.essential.map { [$0] })
    for orders in longSearches(preemptions: 1) {
      await Self.expectNoFault(explore(programs, in: CancellableWorld.self, FutureShape.fixed, orders))
    }
  }

  @Test("R1-R5, R7, R15-R18, R20, R22: two threads with two operations each cause no fault")
  func twoOperations() async {
    let programs = selections(of: 2, from: pairs(FutureOperation.essential))
    for orders in longSearches(preemptions: 2) {
      await Self.expectNoFault(explore(programs, in: CancellableWorld.self, [.plain], orders))
    }
  }

  @Test("R1, R2, R5, R7: three threads resolve a future, and attach or remove its first callbacks, without a fault")
  func firstCallbacks() async {
    let operations = TestTier.choose(
      standard: [FutureOperation.attach, .remove, .drop],
      thorough: [.attach, .remove, .drop, .succeed, .cancel]
    )
    let programs = selections(of: 2, from: operations.map { [$0] }).map { [[.succeed]] + $0 }
    await Self.expectNoFault(explore(programs, in: CancellableWorld.self, [.plain, .free]))
  }

  @Test(
    "R1-R5, R7, R15-R17: threads with one operation each cause no fault while a future begins to follow another one"
  )
  func following() async {
    let operations = FutureOperation.following
    let race: [[[FutureOperation]]] = [[[.follow], [.cancel]]]
    let twoThreads = selections(of: 2, from: operations.map { [$0] })
    let threeThreads = selections(of: 2, from: operations.map { [$0] }).map { [[.follow]] + $0 }
    // A stage is cancelled while it changes its source. Losing a consumer takes three preemptions.
    await Self.expectNoFault(explore(race, in: CancellableWorld.self, [.relinked, .shared], .everyOrderOfNewestValues))
    for allOrders in shortSearches {
      await Self.expectNoFault(explore(twoThreads, in: CancellableWorld.self, FutureShape.following, allOrders))
      await Self.expectNoFault(explore(twoThreads, in: WaitingWorld.self, FutureShape.following, allOrders))
    }
    for orders in longSearches(preemptions: 1) {
      await Self.expectNoFault(explore(threeThreads, in: CancellableWorld.self, FutureShape.following, orders))
      await Self.expectNoFault(explore(threeThreads, in: WaitingWorld.self, FutureShape.following, orders))
    }
  }

  @Test("R1, R2, R5, R16: no cancellation by two or three threads passes through a shielded view")
  func shieldedViews() async {
    let operations: [FutureOperation] = [.succeed, .drop, .attach, .cancel, .deriveAndCancel, .abandonCancelling]
    let twoThreads = selections(of: 2, from: operations.map { [$0] })
    let threeThreads = selections(of: 3, from: operations.map { [$0] })
    for orders in shortSearches {
      await Self.expectNoFault(explore(twoThreads, in: CancellableWorld.self, [.shielded], orders))
      await Self.expectNoFault(explore(twoThreads, in: WaitingWorld.self, [.shielded], orders))
    }
    for orders in longSearches(preemptions: 1) {
      await Self.expectNoFault(explore(threeThreads, in: CancellableWorld.self, [.shielded], orders))
      await Self.expectNoFault(explore(threeThreads, in: WaitingWorld.self, [.shielded], orders))
    }
  }

  @Test("R2, R28: a thread that resolves a future hands on, in order, callbacks that other threads attach meanwhile")
  func attachingDuringDelivery() async {
    let programs: [[[DeliveryWorld.Operation]]] = [
      [[.succeed], [.attach, .attach], [.attach, .attach]],
      [[.succeed], [.attach, .attach, .attach], [.runRest]],
      [[.succeed], [.attach, .attachAndRemove], [.attach], [.runRest]],
      [[.succeed], [.attach, .attach], [.peek]],
    ]
    let orders = Thoroughness.preemptions(TestTier.choose(standard: 1, thorough: 2), staleLoads: 0)
    await Self.expectNoFault(explore(programs, in: DeliveryWorld.self, DeliveryWorld.Shape.allCases, orders))
  }

  @Test("R3, R7, R13, R14: three threads with one operation each, or two with two, cause no fault on a token")
  func threadsUseOneToken() async {
    let threeThreads = selections(of: 3, from: TokenWorld.Operation.allCases.map { [$0] })
    let twoOperations = selections(of: 2, from: pairs(TokenWorld.Operation.allCases))
    let orders = TestTier.choose(standard: Thoroughness.preemptions(1), thorough: .everyOrder)
    let longOrders = TestTier.choose(standard: Thoroughness.preemptions(0), thorough: .everyOrder)
    await Self.expectNoFault(explore(threeThreads, in: TokenWorld.self, TokenWorld.Shape.allCases, orders))
    await Self.expectNoFault(explore(twoOperations, in: TokenWorld.self, TokenWorld.Shape.allCases, longOrders))
  }

  @Test("R3-R5: threads with one or two operations each cause no fault on a future whose promise is dropped")
  func brokenPromises() async {
    // Runs in a separate process: all explorers share the handler of FuturesDiagnostics, and its lock.
    await #expect(processExitsWith: .success) {
      let operations = BreakWorld.Operation.allCases
      let orders = preemptions(standard: 0, thorough: 1)
      let allOrders = TestTier.choose(standard: Thoroughness.preemptions(1), thorough: .everyOrder)
      let shapes = BreakWorld.Shape.allCases
      let twoThreads = selections(of: 2, from: operations.map { [$0] })
      let threeThreads = selections(of: 3, from: operations.map { [$0] })
      let twoOperations = selections(of: 2, from: pairs(operations))
      Self.expectNoFault(await explore(twoThreads, in: BreakWorld.self, shapes, allOrders))
      Self.expectNoFault(await explore(threeThreads, in: BreakWorld.self, shapes, orders))
      Self.expectNoFault(await explore(twoOperations, in: BreakWorld.self, [.plain], orders))
      let programs: [[[TimeoutBreakWorld.Operation]]] = [[[.cancel], [.drop]]]
      Self.expectNoFault(await explore(programs, in: TimeoutBreakWorld.self, [.cancellable], .everyOrder))
    }
  }

  @Test("R5, R12, R16: threads with one or two operations each cause no fault on a join that never resolves")
  func orphanedJoins() async {
    let operations = OrphanWorld.Operation.allCases
    let allOrders = TestTier.choose(standard: Thoroughness.preemptions(1), thorough: .everyOrder)
    let orders = preemptions(standard: 0, thorough: 1)
    let shapes = OrphanWorld.Shape.allCases
    let twoThreads = selections(of: 2, from: operations.map { [$0] })
    let threeThreads = selections(of: 3, from: operations.map { [$0] })
    let twoOperations = selections(of: 2, from: pairs(operations.filter { $0 != .attachToFirst }))
    await Self.expectNoFault(explore(twoThreads, in: OrphanWorld.self, shapes, allOrders))
    await Self.expectNoFault(explore(threeThreads, in: OrphanWorld.self, shapes, orders))
    await Self.expectNoFault(explore(twoOperations, in: OrphanWorld.self, shapes, orders))
  }

  @Test("R2b, R5, R16: two threads with one operation each cause no fault on a lazy future without a cancelled failure")
  func dormantFutures() async {
    let programs = selections(of: 2, from: DormantWorld.Operation.allCases.map { [$0] })
    await Self.expectNoFault(explore(programs, in: DormantWorld.self, DormantWorld.Shape.allCases, .everyOrder))
  }

  @Test("R16: a cancelled stage leaves its new source, also if it moved on when its old one was or became an orphan")
  func recoveries() async {
    let programs: [[[RecoveryWorld.Operation]]] = [[[.follow], [.cancel]], [[.derive], [.cancel]]]
    await Self.expectNoFault(explore(programs, in: RecoveryWorld.self, [.plain], .preemptions(2)))
  }

  @Test("R1, R2, R12, R16, R18: threads with one operation each cause no fault on a join of two pending futures")
  func joins() async {
    let operations = JoinWorld.Operation.allCases.map { [$0] }
    // Each operation once: a second operation of the same kind has no effect.
    let twoThreads = selections(of: 2, from: operations).filter { Set($0).count == 2 }
    let threeThreads = selections(of: 3, from: operations).filter { Set($0).count == 3 }
    // Each run must make the same steps, so the join must remove the links of its progress in a fixed order.
    await Self.expectNoFault(explore([[[.succeedFirst], [.listen]]], in: JoinWorld.self))
    for allOrders in longSearches(preemptions: 2) {
      await Self.expectNoFault(explore(twoThreads, in: JoinWorld.self, JoinWorld.Shape.allCases, allOrders))
    }
    for orders in longSearches(preemptions: 1) {
      await Self.expectNoFault(explore(threeThreads, in: JoinWorld.self, JoinWorld.Shape.allCases, orders))
    }
  }

  @Test(
    "R1, R2, R4, R15, R17: a stage moves on to a private future without a fault while another thread resolves or breaks that"
  )
  func movingOnToPrivateFuture() async {
    // Whether a state is private depends on its reference count. The search of every order does not see races of
    // counts.
    let orders = Thoroughness.preemptions(TestTier.choose(standard: 1, thorough: 2))
    let ends: [[PrivateWorld.Operation]] = [[.succeed], [.drop]]
    let programs = [PrivateWorld.Operation.follow, .followAndCancel].flatMap { follow in
      ends.map { [[follow], $0] } + [[[follow], [.succeed], [.drop]]]
    }
    await Self.expectNoFault(explore(programs, in: PrivateWorld.self, PrivateWorld.Shape.allCases, orders))
  }

  @Test("R2, R17: three threads cancel a flatMap, run its transform, and resolve the inner future without a fault")
  func relinking() async {
    let programs: [[[RelinkWorld.Operation]]] = [[[.follow], [.succeed], [.cancel]]]
    let orders = TestTier.choose(standard: Thoroughness.preemptions(1), thorough: .everyOrder)
    await Self.expectNoFault(explore(programs, in: RelinkWorld.self, [.plain], orders))
  }

  @Test("R1, R2, R8, R22: threads with one operation each cause no fault on a future that a task resolves")
  func tasks() async {
    let operations = TaskWorld.Operation.allCases
    let twoThreads = selections(of: 2, from: operations.map { [$0] })
    let threeThreads = selections(of: 3, from: operations.map { [$0] })
    let orders = TestTier.choose(standard: Thoroughness.preemptions(1), thorough: .everyOrder)
    await Self.expectNoFault(explore(twoThreads + threeThreads, in: TaskWorld.self, [.plain], orders))
  }

  private static func expectNoFault(_ exploration: Exploration) {
    print("Explored \(exploration.programs) programs in \(exploration.runs) orders.")
    #expect(exploration.fault == nil)
  }

  @Test(
    "The explorer finds each deliberately planted fault",
    .enabled(if: mayLeak),
    arguments: [
      (PlantedBug.checkOutsideTheLock, FutureOperation.attach, "a callback was lost (R2)"),
      (.missedRecheck, .attach, "a callback was lost (R2)"),
      (.droppedRelease, .peek, "a thread saw the value, but not what came before it"),
      (.droppedAcquire, .peek, "a thread saw the value, but not what came before it"),
      (.droppedRelease, .attach, "a callback ran on a thread that has not seen an earlier one (R2)"),
    ]
  )
  func plantedFaultsAreFound(bug: PlantedBug, operation: FutureOperation, fault: String) async {
    let exploration = await explore([[[.succeed], [operation]]], in: CancellableWorld.self, [.plain], bug: bug)
    #expect(exploration.fault?.contains(fault) == true, "found: \(exploration.fault ?? "nothing")")
  }
}
