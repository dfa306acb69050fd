public import Futures

/// Records events from any thread, in order, and lets a test wait for one of them.
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

  /// Makes an empty record.
  public init() {}

  /// Appends `checkpoint` to the record, and resolves the futures that wait for it.
  /// - Parameter checkpoint: The name. A checkpoint can be passed more than once.
  public func pass(_ checkpoint: String) {
    let awaited = state.withLock { state in
      state.passed.append(checkpoint)
      return state.awaited.removeValue(forKey: checkpoint)
    }
    awaited?.succeed()
  }

  /// The passed checkpoints, in order.
  public var passed: [String] { state.withLock { $0.passed } }

  /// Returns a future that succeeds when `checkpoint` is passed, or at once if it has been passed.
  ///
  /// Its `.immediate` callbacks run on the thread that passes the checkpoint.
  public func passing(_ checkpoint: String) -> Future<Void, Never> {
    state.withLock { state in
      if state.passed.contains(checkpoint) { return .succeeded(()) }
      let promise = state.awaited[checkpoint] ?? Promise("checkpoint \(checkpoint)")
      state.awaited[checkpoint] = promise
      return promise.future
    }
  }
}
