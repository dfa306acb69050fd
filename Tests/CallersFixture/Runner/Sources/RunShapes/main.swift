import Foundation
import Leaves
import Shapes

struct Shape: Sendable {
  let name: String

  /// The number of all side effects, for a shape that goes on after its function has returned.
  let events: Int

  /// The number of side effects before the first callback, for a shape that makes these effects in a task of its own.
  let first: Int
  let run: @Sendable (Store) async throws -> Void

  init(_ name: String, events: Int = 0, first: Int = 0, _ run: @escaping @Sendable (Store) async throws -> Void) {
    self.name = name
    self.events = events
    self.first = first
    self.run = run
  }
}

/// Runs the jobs of a shape on the thread of the callbacks: a callback comes only when the shape can do nothing else.
final class ShapeExecutor: TaskExecutor {
  private let world: World

  init(_ world: World) { self.world = world }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    world.enqueue { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Keeps screens alive, as an app does.
final class Screens: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  private nonisolated(unsafe) var kept: [Screen] = []

  func keep(_ screen: Screen) { lock.withLock { kept.append(screen) } }
}

/// Whether a shape has returned, and its error.
final class Ending: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  private nonisolated(unsafe) var text: String?

  var value: String? {
    get { lock.withLock { text } }
    set { lock.withLock { text = newValue } }
  }
}

let screens = Screens()

/// Runs a shape, and delivers its callbacks one by one.
func record(_ shape: Shape, _ outcome: Outcome, isCancelled: Bool) -> [String] {
  let world = World(outcome)
  let ending = Ending()
  Task(executorPreference: ShapeExecutor(world)) {
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    do {
      try await shape.run(Store(world))
      ending.value = "returns"
    } catch {
      ending.value = "throws \(error)"
    }
    world.wake()
  }
  while let work = world.next(after: shape.first, until: { ending.value != nil && $0 >= shape.events }) {
    work()
    DispatchQueue.main.sync {}
  }
  return world.events + [ending.value ?? ""]
}

DispatchQueue.main.setSpecific(key: World.mainKey, value: true)
let only = CommandLine.arguments.dropFirst().first
Thread.detachNewThread {
  for shape in shapes where only == nil || shape.name == only {
    for outcome in Outcome.allCases {
      for isCancelled in [false, true] {
        let events = record(shape, outcome, isCancelled: isCancelled)
        let line = "\(shape.name), \(outcome)\(isCancelled ? ", cancelled" : ""): \(events.joined(separator: "; "))\n"
        FileHandle.standardOutput.write(Data(line.utf8))
      }
    }
  }
  exit(0)
}
dispatchMain()
