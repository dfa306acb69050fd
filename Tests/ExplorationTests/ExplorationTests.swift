internal import TestSupport
internal import Testing

/// What became of many programs.
private struct Exploration: Sendable {
  var programs = 0
  var runs = 0
  var fault: String?
}

/// What the threads of one run share.
protocol ExploredWorld: AnyObject, Sendable {
  associatedtype Operation: RawRepresentable<String>, Sendable
  associatedtype Shape: CaseIterable, Sendable

  /// What there is before the threads begin.
  init(_ shape: Shape, _ threads: [[Operation]])

  /// Does what one step of a program says, on an explored thread.
  func run(_ operation: Operation)

  /// What is wrong now that all threads have ended.
  func check() -> String?
}

/// Explores each program in worlds of each shape until one has a fault.
///
/// On a thread of its own, since it blocks that.
private func explore<World: ExploredWorld>(
  _ programs: [[[World.Operation]]],
  in _: World.Type,
  _ shapes: [World.Shape] = Array(World.Shape.allCases),
  _ thoroughness: Thoroughness = .everyOrder,
  bug: PlantedBug? = nil
) async -> Exploration {
  await withCheckedContinuation { continuation in
    startThread {
      var exploration = Exploration()
      outer: for program in programs {
        for shape in shapes {
          let explorer = Explorer(thoroughness, bug: bug)
          let fault = explorer.explore {
            let world = World(shape, program)
            let threads = program.map { operations in
              { @Sendable in for operation in operations { world.run(operation) } }
            }
            return (threads, world.check)
          }
          exploration.programs += 1
          exploration.runs += explorer.runs
          if let fault {
            exploration.fault = "\(shape), \(program.map { $0.map(\.rawValue) }): \(fault)"
            break outer
          }
        }
      }
      continuation.resume(returning: exploration)
    }
  }
}

/// All ways to choose `count` of `choices`, whose order does not matter.
private func selections<Choice>(of count: Int, from choices: [Choice]) -> [[Choice]] {
  guard count > 0 else { return [[]] }
  return choices.indices.flatMap { index in
    selections(of: count - 1, from: Array(choices[index...])).map { [choices[index]] + $0 }
  }
}

/// All sequences of two.
private func pairs<Operation>(_ operations: [Operation]) -> [[Operation]] {
  operations.flatMap { first in operations.map { [first, $0] } }
}

/// All orders where the environment has `FUTURES_EXPLORE_ALL`, which takes minutes; else those with so many preemptions.
private func everyOrder(orPreemptions maximum: Int) -> Thoroughness {
  environmentHas("FUTURES_EXPLORE_ALL") ? .everyOrder : .preemptions(maximum)
}

#if ASAN
  /// A lost callback is never released: LeakSanitizer would report what a planted bug loses.
  private let mayLeak = false
#else
  private let mayLeak = true
#endif

#if TSAN
  /// The explorer hands each step on to the next by a semaphore, so ThreadSanitizer would see no two threads at work.
  private let isUseful = false
#else
  private let isUseful = true
#endif

@Suite("Every interleaving of the steps of the core", .enabled(if: isUseful), .timeLimit(.minutes(20)))
struct ExplorationTests {
  @Test("R1-R5, R7, R15-R18, R20, R22: two threads with one operation each, in every order")
  func twoThreads() async {
    let programs = selections(of: 2, from: FutureOperation.allCases.map { [$0] })
    await expectNoFault(explore(programs, in: FutureWorld.self))
  }

  @Test("R1-R5, R7, R15-R18, R20, R22: three threads with one operation each")
  func threeThreads() async {
    let programs = selections(of: 3, from: FutureOperation.essential.map { [$0] })
    await expectNoFault(explore(programs, in: FutureWorld.self, FutureShape.allCases, everyOrder(orPreemptions: 1)))
  }

  @Test("R1-R5, R7, R15-R18, R20, R22: two threads with two operations each")
  func twoOperations() async {
    let programs = selections(of: 2, from: pairs(FutureOperation.essential))
    #if DEBUG
      let preemptions = 1  // a step takes several times as long
    #else
      let preemptions = 2
    #endif
    await expectNoFault(explore(programs, in: FutureWorld.self, [.plain], everyOrder(orPreemptions: preemptions)))
  }

  @Test("R3, R7, R13, R14: three threads with one operation each on a token, or two with two, in every order")
  func tokens() async {
    let threeThreads = selections(of: 3, from: TokenWorld.Operation.allCases.map { [$0] })
    let twoOperations = selections(of: 2, from: pairs(TokenWorld.Operation.allCases))
    await expectNoFault(explore(threeThreads + twoOperations, in: TokenWorld.self))
  }

  private func expectNoFault(_ exploration: Exploration) {
    print("Explored \(exploration.programs) programs in \(exploration.runs) orders.")
    #expect(exploration.fault == nil)
  }

  @Test(
    "What is broken on purpose is found",
    .enabled(if: mayLeak),
    arguments: [
      (PlantedBug.checkOutsideTheLock, "a callback was lost (R2)"),
      (.missedRecheck, "a callback was lost (R2)"),
      (.droppedRelease, "a thread saw the value, but not what came before it"),
      (.droppedAcquire, "a thread saw the value, but not what came before it"),
    ]
  )
  func planted(bug: PlantedBug, fault: String) async {
    let programs: [[[FutureOperation]]] = [[[.succeed], [.attach]], [[.succeed], [.peek]]]
    let exploration = await explore(programs, in: FutureWorld.self, [.plain], bug: bug)
    #expect(exploration.fault?.contains(fault) == true, "found: \(exploration.fault ?? "nothing")")
  }
}
