/// A future that a task of the library resolves, and tasks that await it (R1, R2, R8, R22).
///
/// There are no callbacks: they would run on a thread that the explorer does not control.
final class TaskWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Resolves as the library's tasks do.
    case resolveFromTask
    /// Awaits the future.
    case await
    /// Ends the wait that began before the threads.
    case abandon
    case cancel
    /// Reads the result.
    case peek
  }

  enum Shape: CaseIterable, Sendable { case plain }

  private let promise = Promise<Int, any Error>()
  private var waits: [Waiting<any Error>]
  private var isAbandoned = false

  /// The resolutions; each value is an index of this array.
  private var resolutions: [Event] = []
  private var faults: [String] = []

  init(_: Shape, _ threads: [[Operation]]) {
    waits = (0...threads.joined().count { $0 == .await }).map { _ in Waiting() }
    waits[0].begin(promise.future)
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .resolveFromTask:
      resolutions.append(thread.now)
      promise.resolveFromTask(.success(resolutions.count - 1))
    case .await: waits.first { !$0.hasBegun }?.begin(promise.future)
    case .abandon:
      isAbandoned = true
      waits[0].abandon(promise.future, isCancelling: false)
    case .cancel: promise.future.cancel()
    case .peek:
      guard case .success(let number)? = promise.future.peek(), !thread.hasSeen(resolutions[number]) else { return }
      faults.append("a thread saw the value, but not what came before it")
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    if isAbandoned, waits[0].end == nil { faults.append("an abandoned await did not end (R22)") }
    if promise.succeed(-1), !resolutions.isEmpty { faults.append("a future was not resolved by its task (R1)") }
    let result = promise.future.peek().map(describe) ?? "nothing"
    for waiting in waits {
      if !waiting.hasBegun { waiting.begin(promise.future) }
      faults += waiting.faults(result, mayBeAbandoned: isAbandoned && waiting === waits[0])
      waiting.release()
    }
    return faults.first
  }
}
