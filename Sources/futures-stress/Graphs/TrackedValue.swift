import Dispatch
import Futures

typealias GraphFuture = Future<TrackedValue, any Error>
typealias GraphPromise = Promise<TrackedValue, any Error>

/// The value of the futures of a graph; `alive` counts the values that are not released.
final class TrackedValue: Sendable {
  let number: Int
  private let alive: DispatchGroup

  init(_ number: Int, _ alive: DispatchGroup) {
    self.number = number
    self.alive = alive
    alive.enter()
  }

  deinit { alive.leave() }
}
