public import Futures

/// Notes which points a test has passed, in order, from any thread, and lets it wait for one.
///
/// ```swift
/// let checkpoints = Checkpoints()
/// future.whenResolved(on: .main) { _ in checkpoints.pass("shown") }
/// await checkpoints.passing("shown").value
/// #expect(checkpoints.passed == ["loaded", "shown"])
/// ```
public final class Checkpoints: Sendable {
  private struct State {
    var passed: [String] = []
    var awaited: [String: Promise<Void, Never>] = [:]
  }

  private let state = Locked(State())

  /// Has seen nothing pass.
  public init() {}

  /// Notes that `checkpoint` was passed, after all that were passed before, and resumes those who wait for it.
  /// - Parameter checkpoint: Its name; it may be passed more than once.
  public func pass(_ checkpoint: String) {
    let awaited = state.withLock { state in
      state.passed.append(checkpoint)
      return state.awaited.removeValue(forKey: checkpoint)
    }
    awaited?.succeed()
  }

  /// What was passed so far, in order.
  public var passed: [String] { state.withLock { $0.passed } }

  /// A future that succeeds when `checkpoint` is passed, or has been passed.
  ///
  /// Callbacks of it run on the thread that passes.
  /// - Parameter checkpoint: Its name.
  /// - Returns: The future.
  public func passing(_ checkpoint: String) -> Future<Void, Never> {
    state.withLock { state in
      if state.passed.contains(checkpoint) { return .succeeded(()) }
      let promise = state.awaited[checkpoint] ?? Promise("checkpoint \(checkpoint)")
      state.awaited[checkpoint] = promise
      return promise.future
    }
  }
}
