import Dispatch
import Testing

/// The surroundings of the app in a test, where only the test makes something happen.
final class World: Sendable {
  let server = ScriptedServer()
  let time = ManualTime()
  let connection = ScriptedConnection()
  let disk = ScriptedDisk()
  private let crew = Crew()

  /// Starts a task of the test.
  func start<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) -> Started<Value> {
    Started { result in
      Task(executorPreference: crew) {
        do {
          let value = try await work()
          result.change { $0 = .success(value) }
        } catch {
          result.change { $0 = .failure(error) }
        }
      }
    }
  }

  /// Returns when all started tasks are suspended or have ended.
  func settled() async throws { try await crew.settled() }

  /// Whether the caller runs on the main queue, for contracts that demand it.
  @MainActor static func isOnMainQueue() -> Bool {
    DispatchQueue.main.setSpecific(key: mainKey, value: true)
    return DispatchQueue.getSpecific(key: mainKey) == true
  }

  private static let mainKey = DispatchSpecificKey<Bool>()
}

/// A task of a test; waiting for it ends with the test's time limit, even if the task never ends.
struct Started<Value: Sendable>: Sendable {
  private let watched = Watched<Result<Value, any Error>?>(nil)
  private let task: Task<Void, Never>

  init(_ start: (Watched<Result<Value, any Error>?>) -> Task<Void, Never>) { task = start(watched) }

  var result: Result<Value, any Error> {
    get async throws {
      try await watched.until { $0 != nil }
      return try #require(watched.state)
    }
  }

  var value: Value {
    get async throws { try await result.get() }
  }

  func cancel() { task.cancel() }
}

/// The thread of the test's tasks, which knows when all of them are suspended.
private final class Crew: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks of the test")
  private let jobCount = Watched(0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobCount.change { $0 += 1 }
    queue.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      self.jobCount.change { $0 -= 1 }
    }
  }

  func settled() async throws { try await jobCount.until { $0 == 0 } }
}

/// Virtual time.
final class ManualTime: Sendable {
  private struct Timer: Sendable {
    let delay: Duration
    let due: Duration
    let work: @Sendable () -> Void
  }

  private struct State: Sendable {
    var now = Duration.zero
    var timers: [Int: Timer] = [:]
    var lastNumber = 0
  }

  private let state = Watched(State())

  var now: Duration { state.state.now }
  var timerCount: Int { state.state.timers.count }

  /// Returns a closure that stops the timer.
  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let number = state.change { state in
      state.lastNumber += 1
      state.timers[state.lastNumber] = Timer(delay: delay, due: state.now + delay, work: work)
      return state.lastNumber
    }
    return { self.state.change { $0.timers[number] = nil } }
  }

  /// Returns when the app waits for a timer of this length.
  func timer(of delay: Duration) async throws {
    try await state.until { state in state.timers.values.contains { $0.delay == delay } }
  }

  func advance(by duration: Duration) {
    let due = state.change { state in
      state.now += duration
      let due = state.timers.filter { [now = state.now] in $0.value.due <= now }
      for number in due.keys { state.timers[number] = nil }
      return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value.work)
    }
    for work in due { work() }
  }
}

/// A server whose answers the test supplies.
final class ScriptedServer: Sendable {
  struct Answer: Sendable {
    var status = 200
    var body = ""
    var total: Int?
  }

  private let arrived = Watched<[ServedRequest]>([])
  private let count = Watched(0)

  /// The number of requests so far.
  var requestCount: Int { count.state }

  func receive(_ request: ServedRequest) {
    count.change { $0 += 1 }
    arrived.change { $0.append(request) }
  }

  /// Waits for the next request with this address, and returns it.
  func request(_ address: String) async throws -> ServedRequest {
    try await arrived.until { requests in requests.contains { $0.address == address } }
    return try #require(
      arrived.change { requests in
        requests.firstIndex { $0.address == address }.map { requests.remove(at: $0) }
      }
    )
  }
}

final class ServedRequest: Sendable {
  /// The host, the path, and the position of the first byte if it is not 0.
  let address: String
  let body: String
  private let completion: Watched<(@Sendable (Result<ScriptedServer.Answer, Fault>) -> Void)?>
  private let wasCancelled = Watched(false)

  init(
    address: String,
    body: String,
    completion: @escaping @Sendable (Result<ScriptedServer.Answer, Fault>) -> Void
  ) {
    self.address = address
    self.body = body
    self.completion = Watched(completion)
  }

  func answer(_ body: String, status: Int = 200, total: Int? = nil) {
    completion.state?(.success(ScriptedServer.Answer(status: status, body: body, total: total)))
  }

  func fail(_ fault: Fault) { completion.state?(.failure(fault)) }

  /// Releases the callback without calling it.
  func forget() { completion.change { $0 = nil } }

  /// Fails the request, for the app; as with `URLSession`, the callback still runs.
  func cancel() {
    let isFirst = wasCancelled.change { wasCancelled in
      defer { wasCancelled = true }
      return !wasCancelled
    }
    if isFirst { fail(.cancelled) }
  }

  /// Returns when the app has stopped the request.
  func cancelled() async throws { try await wasCancelled.until(\.self) }

  var isCancelled: Bool { wasCancelled.state }
}

/// A connection for questions, whose answers the test supplies.
final class ScriptedConnection: Sendable {
  private let asked = Watched<[String]>([])
  private let delegate = Watched<(answer: @Sendable (String, String) -> Void, lose: @Sendable (Fault) -> Void)?>(nil)

  var questions: [String] { asked.state }

  func open(answer: @escaping @Sendable (String, String) -> Void, lose: @escaping @Sendable (Fault) -> Void) {
    delegate.change { $0 = (answer, lose) }
  }

  func ask(_ question: String) { asked.change { $0.append(question) } }

  func answer(_ answer: String, to question: String) { delegate.state?.answer(answer, question) }

  func lose() { delegate.state?.lose(.lost) }
}

/// Files in memory.
final class ScriptedDisk: Sendable {
  private let files = Watched<[String: String]>([:])
  private let room = Watched(Int.max)

  func read(_ name: String) throws -> String {
    guard let text = files.state[name] else { throw Fault.lost }
    return text
  }

  func append(_ text: String, to name: String) throws {
    guard room.state >= text.utf8.count else { throw Fault.diskFull }
    files.change { $0[name, default: ""] += text }
  }

  func rename(_ name: String, to newName: String) { files.change { $0[newName] = $0.removeValue(forKey: name) } }

  func remove(_ name: String) { files.change { $0[name] = nil } }

  func setRoom(_ bytes: Int) { room.change { $0 = bytes } }

  /// Returns when the file exists, or when it does not.
  func has(_ name: String, _ isThere: Bool = true) async throws {
    try await files.until { ($0[name] != nil) == isThere }
  }
}
