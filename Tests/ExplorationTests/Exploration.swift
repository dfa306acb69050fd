internal import TestSupport

/// The outcome of many programs.
struct Exploration: Sendable {
  var programs = 0
  var runs = 0
  var fault: String?
}

/// The shared objects of one run.
protocol ExploredWorld: AnyObject, Sendable {
  associatedtype Operation: RawRepresentable<String>, Sendable
  associatedtype Shape: CaseIterable, Sendable

  /// Makes the shared objects, before the threads begin.
  init(_ shape: Shape, _ threads: [[Operation]])

  /// Performs one step of a program on an explored thread.
  func run(_ operation: Operation)

  /// Returns the first fault after all threads have ended.
  func check() -> String?
}

/// Explores each program in worlds of each shape until one has a fault.
///
/// Runs on a new thread, because the explorer blocks its thread.
func explore<World: ExploredWorld>(
  _ programs: [[[World.Operation]]],
  in _: World.Type,
  _ shapes: [World.Shape] = Array(World.Shape.allCases),
  _ thoroughness: Thoroughness = .everyOrder,
  bug: PlantedBug? = nil,
  weakened: WeakenedOrdering? = nil
) async -> Exploration {
  checkInvariants()
  return await withCheckedContinuation { continuation in
    startThread {
      var exploration = Exploration()
      outer: for program in programs {
        for shape in shapes {
          let explorer = Explorer(thoroughness, bug: bug, weakened: weakened)
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

/// All ways to choose `count` of `choices`, with repetition and without regard to order.
func selections<Choice>(of count: Int, from choices: [Choice]) -> [[Choice]] {
  guard count > 0 else { return [[]] }
  return choices.indices.flatMap { index in
    selections(of: count - 1, from: Array(choices[index...])).map { [choices[index]] + $0 }
  }
}

/// All sequences of two operations.
func pairs<Operation>(_ operations: [Operation]) -> [[Operation]] {
  operations.flatMap { first in operations.map { [first, $0] } }
}

/// Makes each transition of a future check the invariants of `FutureState`, in a debug build.
private func checkInvariants() {
  #if DEBUG
    // A planted bug breaks invariants, too. The program must find the bug without these checks.
    FuturesDiagnostics.invariantHandler = { fault in
      guard let explorer = ExploredThread.current?.explorer, explorer.bug == nil else { return }
      explorer.note(fault)
    }
  #endif
}
