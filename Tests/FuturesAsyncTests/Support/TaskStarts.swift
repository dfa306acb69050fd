internal import Futures
internal import FuturesAsync
internal import TestSupport

/// The ways to make a future of a task.
///
/// A new case gets the tests of results, delivery, cancellation and priority.
enum TaskStart: String, CaseIterable, Codable, Sendable {
  case inheriting, detached, immediate, promise, task

  /// Starts `work`; `.task` needs `any Error` or `Never`, which are the failure types of tasks.
  func make<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    switch self {
    case .inheriting: return Future(operation: work)
    case .detached: return .detached(operation: work)
    case .immediate: return .immediate(operation: work)
    case .promise:
      let promise = Promise<Value, Failure>()
      promise.resolve(with: work)
      return promise.future
    case .task:
      guard Failure.self == Never.self else {
        return Future(Task<Value, any Error> { try await work() }) as! Future<Value, Failure>
      }
      let task = Task<Value, Never> {
        do { return try await work() } catch { preconditionFailure("\(error)") }
      }
      return Future(task) as! Future<Value, Failure>
    }
  }
}

/// Work that begins, waits at a gate even if it is cancelled, and then reports whether its task is cancelled.
struct GatedWork: Sendable {
  let started = Gate()
  let gate = Gate()
  let inbox = Inbox<String>()

  func run() async {
    started.open()
    await gate.pass()
    inbox.send(Task.isCancelled ? "cancelled" : "not cancelled")
  }
}

/// A value that calls a closure when it is released.
final class LastUse: Sendable {
  private let released: @Sendable () -> Void
  init(_ released: @escaping @Sendable () -> Void) { self.released = released }
  deinit { released() }
  func use() {}
}

/// The properties of the current task that a callback sees, if there is a task.
struct Surroundings: Equatable, Sendable {
  var local = Local.name
  var isCancelled = Task.isCancelled
  var isInTask = withUnsafeCurrentTask { $0 != nil }

  /// The properties on a thread without a task.
  static let none = Surroundings(local: "none", isCancelled: false, isInTask: false)
}

func cancelCurrentTask() { withUnsafeCurrentTask { $0?.cancel() } }
