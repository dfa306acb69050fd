import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import FuturesTesting
import ProgramSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Operations whose parts race on several threads, with random outcomes: requests to a server that misbehaves, processes,
/// notifications, callbacks, streams and shared work.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class SoakOperations: Sendable {
  /// The answers of the server: a complete response, a closed connection, half of the promised bytes, no HTTP, or nothing.
  private enum Answer: String, CaseIterable {
    case complete, closed, half, garbage, silent
  }

  private static let size = 20_000
  private let server: LoopbackServer
  private let session: URLSession
  private let folder = FileManager.default.temporaryDirectory.appending(path: "futures-soak-\(UUID())")
  private let shared = PendingPromises<Int, Int, any Error>("soak")

  /// The number of Foundation's operations.
  private let performed = Locked(0)
  var count: Int { performed.withLock { $0 } }

  init() throws {
    signal(SIGPIPE, SIG_IGN)  // a closed connection becomes an error
    server = try LoopbackServer { exchange in
      switch Answer(rawValue: String(exchange.path.dropFirst())) {
      case .complete: exchange.answer("200 OK", Data(count: Self.size))
      case .half:
        exchange.begin(length: Self.size)
        exchange.send(Data(count: Self.size / 2))
      case .garbage: exchange.send(Data("no protocol\r\n\r\n".utf8))
      case .silent: exchange.waitForClose()
      case .closed, nil: break
      }
    }
    let configuration = URLSessionConfiguration.ephemeral
    // Foundation for Linux crashes if a request of a session with a cache is cancelled at its start.
    configuration.urlCache = nil
    session = URLSession(configuration: configuration)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Stops the server, and removes the files that failed and cancelled downloads have left.
  /// - Returns: These files, as a fault.
  func stop() -> [String] {
    session.invalidateAndCancel()
    server.stop()
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    try? FileManager.default.removeItem(at: folder)
    return files.isEmpty ? [] : ["\(files.count) files are left of downloads, such as \(files[0])"]
  }

  /// Performs one operation.
  /// - Returns: The violated expectations.
  func operate(_ random: inout SplitMix64) async -> [String] {
    let isCancelled = random.next(below: 3) == 0
    let answer = Answer.allCases.randomElement(using: &random)!
    let number = random.next(below: 16)
    // Foundation's operations take a hundred times as long.
    let isOfFoundation = random.next(below: 50) == 0
    if isOfFoundation { performed.withLock { $0 += 1 } }
    let choice = random.next(below: isOfFoundation ? 64 : 3)
    let fault =
      switch (isOfFoundation, choice) {
      case (false, 0): await callBack(isCancelled: isCancelled, isDropped: number % 4 == 0)
      case (false, 1): await readStream(isCancelled: isCancelled, isDropped: number % 4 == 0, count: number)
      case (false, _): await shareWork(isCancelled: isCancelled, key: number % 4)
      // Rare: Foundation for Linux never releases a process object.
      case (true, 0): await runProcess(isCancelled: isCancelled)
      case (true, 1...23): await awaitNotification(isCancelled: isCancelled)
      case (true, 24...39): await load(answer)
      case (true, _): await download(answer, isCancelled: isCancelled)
      }
    return fault.map { [$0] } ?? []
  }

  /// Describes an outcome that is not expected: a wrong value, or a failure without its reason.
  private func fault<Value>(
    _ operation: String,
    _ result: Result<Value, any Error>,
    isCancelled: Bool,
    isDropped: Bool = false,
    isRight: (Value) -> Bool
  ) -> String? {
    switch result {
    case .success(let value) where isRight(value): nil
    case .failure(is CancellationError) where isCancelled: nil
    case .failure(is BrokenPromise) where isDropped: nil
    default: "\(operation) (cancelled: \(isCancelled), dropped: \(isDropped)): \(result)"
    }
  }

  /// Returns the result of a task, which another thread cancels if `isCancelled`.
  private func outcome<Value>(of task: Task<Value, any Error>, isCancelled: Bool) async -> Result<Value, any Error> {
    if isCancelled { DispatchQueue.global().async { task.cancel() } }
    return await task.result
  }

  // MARK: Bridges

  private func callBack(isCancelled: Bool, isDropped: Bool) async -> String? {
    let task = Task {
      try await withCallback(of: Int.self) { callback in
        DispatchQueue.global().async {
          guard !isDropped else { return }
          callback.resume(returning: 1)
          callback.resume(returning: 2)  // reported, and ignored
        }
      }
    }
    let result = await outcome(of: task, isCancelled: isCancelled)
    return fault("a callback", result, isCancelled: isCancelled, isDropped: isDropped) { $0 == 1 && !isDropped }
  }

  private func readStream(isCancelled: Bool, isDropped: Bool, count: Int) async -> String? {
    let elements = callbackStream(of: Int.self) { stream in
      DispatchQueue.global().async {
        for element in 0..<count { stream.yield(element) }
        if !isDropped { stream.finish() }
      }
    }
    let task = Task {
      var read: [Int] = []
      for try await element in elements { read.append(element) }
      return read
    }
    let result = await outcome(of: task, isCancelled: isCancelled)
    return fault("a stream", result, isCancelled: isCancelled, isDropped: isDropped) { read in
      read == Array(0..<read.count) && (read.count == count || isCancelled)
    }
  }

  private func shareWork(isCancelled: Bool, key: Int) async -> String? {
    let task = Task { [shared] in
      let future = shared.future(sharing: key) { Future(on: .global()) { key } }
      return try await future.value(onCancel: .cancel)
    }
    let result = await outcome(of: task, isCancelled: isCancelled)
    return fault("shared work", result, isCancelled: isCancelled) { $0 == key }
  }

  // MARK: FuturesFoundation

  /// Loads a body, without cancelling it.
  ///
  /// In Swift 6.3 Foundation for Linux can deadlock when a task that awaits `URLSession.data(for:)` is cancelled while the
  /// response arrives (swift-corelibs-foundation issue 5412). Downloads do not use that function.
  private func load(_ answer: Answer) async -> String? {
    guard answer != .silent else { return nil }
    let result = await session.dataFuture(for: URLRequest(url: server.url("/\(answer)"))).result
    if answer != .complete, case .failure = result { return nil }
    return fault("\(answer)", result, isCancelled: false) { $0.0.count == Self.size && answer == .complete }
  }

  private func download(_ answer: Answer, isCancelled: Bool) async -> String? {
    let file = folder.appending(path: UUID().uuidString)
    let download = session.downloadFuture(for: URLRequest(url: server.url("/\(answer)")), to: file)
    let limited = download.timeout(after: .milliseconds(200))
    if isCancelled { DispatchQueue.global().async { limited.cancel() } }
    let limit = await limited.result
    // The await below can attach before `limited` has removed its consumer, and would keep the download running.
    if case .failure = limit { download.cancel() }
    let result = await download.result  // can succeed although the timeout has failed
    guard case .success = result else {
      if case .success = limit { return "\(answer): \(result) after a success" }
      return nil
    }
    let size = (try? Data(contentsOf: file))?.count
    try? FileManager.default.removeItem(at: file)
    return answer == .complete && size == Self.size ? nil : "\(answer): a file of \(size ?? -1) bytes"
  }

  private func runProcess(isCancelled: Bool) async -> String? {
    let input = Data("soak".utf8)
    let output = Process.future(executable: URL(filePath: "/bin/cat"), input: input)
    if isCancelled { DispatchQueue.global().async { output.cancel() } }
    return fault("cat", await output.result, isCancelled: isCancelled) { $0.standardOutput == input }
  }

  private func awaitNotification(isCancelled: Bool) async -> String? {
    let name = Notification.Name(UUID().uuidString)
    let future = NotificationCenter.default.future(for: name) { _ in 1 }
    DispatchQueue.global().async {
      if isCancelled { future.cancel() } else { NotificationCenter.default.post(name: name, object: nil) }
    }
    return fault("a notification", await future.result, isCancelled: isCancelled) { _ in !isCancelled }
  }
}
