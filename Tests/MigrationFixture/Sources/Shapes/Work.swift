import Dispatch
import Synchronization

/// How work ends.
public enum Ending: Sendable, CaseIterable {
  case success, failure

  /// The callback is dropped without a call.
  case drop

  /// Only a cancellation ends it.
  case never
}

/// The error of work that fails.
public struct Offline: Error, Equatable {
  public init() {}
}

/// Work that ends as its test says.
public final class Work: Sendable {
  private struct State {
    var held: [@Sendable () -> Void] = []
    var isStarted = false
    var cancelCount = 0
  }

  private let ending: Ending
  private let queue = DispatchQueue(label: "work")
  private let state = Mutex(State())

  public init(_ ending: Ending) { self.ending = ending }

  public var isStarted: Bool { state.withLock { $0.isStarted } }
  public var cancelCount: Int { state.withLock { $0.cancelCount } }

  /// Releases the callbacks of work that never ends.
  public func release() { state.withLock { $0.held = [] } }

  func cancel() { state.withLock { $0.cancelCount += 1 } }

  /// Calls `answer` on the queue, with an error if the work fails.
  func run(on queue: DispatchQueue? = nil, _ answer: @escaping (Offline?) -> Void) {
    // The queue is serial, and the caller does not keep the callback.
    nonisolated(unsafe) let answer = answer
    switch ending {
    case .success: (queue ?? self.queue).async { answer(nil) }
    case .failure: (queue ?? self.queue).async { answer(Offline()) }
    case .drop: break
    case .never:
      let held: @Sendable () -> Void = { answer(nil) }
      state.withLock { $0.held.append(held) }
    }
    state.withLock { $0.isStarted = true }
  }

  func result<Value>(
    _ value: Value,
    on queue: DispatchQueue? = nil,
    _ answer: @escaping (Result<Value, Offline>) -> Void
  ) {
    run(on: queue) { answer($0.map { .failure($0) } ?? .success(value)) }
  }
}
