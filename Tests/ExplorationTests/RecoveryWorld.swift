/// A recovery of a future that is an orphan, or that another thread makes an orphan, while a thread cancels that future: the
/// recovered future follows the inner future, which is cancelled exactly once when the recovered future is cancelled (R16).
final class RecoveryWorld: ExploredWorld, @unchecked Sendable {  // @unchecked: the explorer runs one thread at a time
  enum Operation: String, CaseIterable, Sendable {
    /// Makes the promise follow a future that never resolves.
    case follow
    /// Cancels the promise's future.
    case cancel
    /// Derives the recovered future.
    case derive
  }
  enum Shape: CaseIterable, Sendable { case plain }

  private let promise = Promise<Int, any Error>()
  private let inner = Promise<Int, any Error>()
  private var derived: Future<Int, any Error>?
  private var innerCancellations = 0

  init(_: Shape, _ threads: [[Operation]]) {
    inner.onCancel { [unowned self] in innerCancellations += 1 }
    if threads.joined().contains(.derive) { promise.follow(.never) } else { derive() }
  }

  private func derive() { derived = promise.future.flatMapError { [inner] _ in inner.future } }

  func run(_ operation: Operation) {
    switch operation {
    case .follow: promise.follow(.never)
    case .cancel: promise.future.cancel()
    case .derive: derive()
    }
  }

  func check() -> String? {
    derived?.cancel()
    return innerCancellations == 1 ? nil : "the inner future was cancelled \(innerCancellations) times (R16)"
  }
}
