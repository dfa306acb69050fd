internal import Futures
internal import FuturesAsync
internal import TestSupport

/// The ways to make a future of async work.
///
/// A new case gets the tests of results, context, delivery, cancellation, priority and memory.
enum TaskStart: String, CaseIterable, Codable, Sendable {
  case inheriting, detached, immediate, promise, task
  // Work that callers share or that waits for its turn, and operators that start it.
  case limit, serialQueue, pending, pendingShared, cache, cacheOfOne
  case serial, concurrent, concurrentSettled, retry, retryWithDelay, retryByError

  /// The rows for every failure type.
  static let typed: [TaskStart] = [.inheriting, .detached, .immediate, .promise]

  /// The rows of a task alone; `.task` needs `any Error` or `Never`, which are the failure types of tasks.
  static let plain = typed + [.task]

  /// Whether the task has the task-locals and the priority of its creator.
  var inherits: Bool {
    switch self {
    case .detached, .limit, .serialQueue, .pending, .pendingShared, .cache, .cacheOfOne: false
    default: true
    }
  }

  /// Starts `work`; the rows that are not `plain` need `any Error`.
  func make<Value: Sendable, Failure: Error>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    switch self {
    case .inheriting: return Future(name: name, priority: priority, operation: work)
    case .detached: return .detached(name: name, priority: priority, operation: work)
    case .immediate: return .immediate(name: name, priority: priority, operation: work)
    case .promise:
      let promise = Promise<Value, Failure>()
      promise.resolve(with: work)
      return promise.future
    case .task where Failure.self == Never.self:
      let task = Task<Value, Never> {
        do { return try await work() } catch { preconditionFailure("\(error)") }
      }
      return Future(task) as! Future<Value, Failure>
    default: return makeThrowing { try await work() } as! Future<Value, Failure>
    }
  }

  private func makeThrowing<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) -> Future<Value, any Error> {
    typealias Made = Future<Value, any Error>
    let ofItem: @Sendable (Int) async throws -> Value = { _ in try await work() }
    switch self {
    case .inheriting, .detached, .immediate, .promise: return make(work)
    case .task: return Future(Task { try await work() })
    case .limit: return ConcurrencyLimit(1).run(work)
    case .serialQueue: return SerialQueue().future(work)
    case .pending: return sharing(PendingPromises<Int, Value, any Error>()) { $0.future(sharing: 1, work) }
    case .pendingShared: return sharing(PendingPromises<SingleKey, Value, any Error>()) { $0.shared(work) }
    case .cache: return sharing(FutureCache<Int, Value, any Error>()) { $0.future(for: 1, work) }
    case .cacheOfOne: return sharing(FutureCache<SingleKey, Value, any Error>()) { $0.future(work) }
    case .serial: return Made.serial([1], ofItem).map { $0[0] }
    case .concurrent: return Made.concurrent([1], limit: 1, ofItem).map { $0[0] }
    case .concurrentSettled:
      return Made.concurrentSettled([1], limit: 1, ofItem).setFailureType(to: (any Error).self)
        .map { results throws in try results[0].get() }
    case .retry: return Made.retry(attempts: 1, on: .immediate, work)
    case .retryWithDelay: return Made.retry(attempts: 1, delay: .none, on: .immediate, work)
    case .retryByError: return Made.retry(attempts: 1, on: .immediate, delay: { _, _ in .zero }, work)
    }
  }
}

/// Returns the future that `start` makes with `owner`, which lives until that future is resolved.
private func sharing<Owner: Sendable, Value>(
  _ owner: Owner,
  _ start: (Owner) -> Future<Value, any Error>
) -> Future<Value, any Error> { start(owner).keeping(owner) }

extension Future {
  /// Returns a derived future, which keeps `object` alive until it is resolved.
  func keeping(_ object: some Sendable) -> Future { map { value in withExtendedLifetime(object) { value } } }
}

/// Work that begins, waits at a gate even if it is cancelled, and then reports whether its task is cancelled.
struct GatedWork: Sendable {
  let started = Gate()
  let gate = Gate()
  /// An event for each cancellation of the task, before the call that cancels it returns.
  let cancellations = Recorder<Void>()
  let inbox = Inbox<String>()

  func run() async {
    await withTaskCancellationHandler {
      started.open()
      await gate.pass()
    } onCancel: {
      cancellations.record(())
    }
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
