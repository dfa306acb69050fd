import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import FuturesTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An operation of FuturesFoundation, and whether it is cancelled.
enum TransferOperation {
  case process(isCancelled: Bool)
  case notification(isCancelled: Bool)
  case load(MisbehavingServer.Behaviour)
  case download(MisbehavingServer.Behaviour, isCancelled: Bool)

  init(_ random: inout SplitMix64) {
    let isCancelled = random.next(below: 3) == 0
    let behaviour = MisbehavingServer.Behaviour.allCases.randomElement(using: &random)!
    self =
      switch random.next(below: 64) {
      // Rare: Foundation for Linux never releases a process object.
      case 0: .process(isCancelled: isCancelled)
      case 1...23: .notification(isCancelled: isCancelled)
      case 24...39: .load(behaviour)
      default: .download(behaviour, isCancelled: isCancelled)
      }
  }
}

/// Operations of FuturesFoundation: requests to a server that misbehaves, processes and notifications.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Transfers: Sendable {
  private let server: MisbehavingServer
  private let session: URLSession
  private let folder: URL

  /// The number of operations.
  private let performed = Locked(0)
  var count: Int { performed.withLock { $0 } }

  /// Starts the server.
  ///
  /// - Parameter folder: The folder for downloads.
  /// - Throws: The error of the server's socket.
  init(in folder: URL) throws {
    server = try MisbehavingServer()
    let configuration = URLSessionConfiguration.ephemeral
    // Foundation for Linux crashes if a request of a session with a cache is cancelled at its start.
    configuration.urlCache = nil
    session = URLSession(configuration: configuration)
    self.folder = folder
  }

  func stop() {
    session.invalidateAndCancel()
    server.stop()
  }

  /// The files that failed and cancelled downloads have left.
  var faults: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.isEmpty ? [] : ["\(files.count) files are left of downloads, such as \(files[0])"]
  }

  /// Performs one operation.
  /// - Returns: The violated expectations.
  func operate(_ random: inout SplitMix64) async -> [String] {
    performed.withLock { $0 += 1 }
    let fault =
      switch TransferOperation(&random) {
      case .process(let isCancelled): await runProcess(isCancelled: isCancelled)
      case .notification(let isCancelled): await awaitNotification(isCancelled: isCancelled)
      case .load(let behaviour): await load(behaviour)
      case .download(let behaviour, let isCancelled): await download(behaviour, isCancelled: isCancelled)
      }
    return fault.map { [$0] } ?? []
  }

  /// Loads a body, without cancelling it.
  ///
  /// In Swift 6.3 Foundation for Linux can deadlock when a task that awaits `URLSession.data(for:)` is cancelled while the
  /// response arrives (swift-corelibs-foundation issue 5412). Downloads do not use that function.
  private func load(_ behaviour: MisbehavingServer.Behaviour) async -> String? {
    guard behaviour != .silent else { return nil }
    let body = session.dataFuture(for: URLRequest(url: server.url(behaviour)))
    switch await body.result {
    case .success(let (data, _)):
      return behaviour == .complete && data.count == MisbehavingServer.size ? nil : "\(behaviour): \(data.count) bytes"
    case .failure(let error): return behaviour == .complete ? "\(behaviour): \(error)" : nil
    }
  }

  private func download(_ behaviour: MisbehavingServer.Behaviour, isCancelled: Bool) async -> String? {
    let file = folder.appending(path: UUID().uuidString)
    let download = session.downloadFuture(for: URLRequest(url: server.url(behaviour)), to: file)
    let limited = download.timeout(after: .milliseconds(200))
    if isCancelled { DispatchQueue.global().async { limited.cancel() } }
    let limit = await limited.result
    // The await below can attach before `limited` has left, and would keep the download running.
    if case .failure = limit { download.cancel() }
    switch await download.result {  // can succeed although it has left the timeout
    case .success:
      let size = (try? Data(contentsOf: file))?.count
      try? FileManager.default.removeItem(at: file)
      let isWhole = behaviour == .complete && size == MisbehavingServer.size
      return isWhole ? nil : "\(behaviour): a file of \(size ?? -1) bytes"
    case .failure(is CancellationError):
      if case .success = limit { return "\(behaviour): cancelled after its success" }
      return nil
    case .failure: return nil
    }
  }

  private func runProcess(isCancelled: Bool) async -> String? {
    let input = Data("soak".utf8)
    let output = Process.future(executable: URL(filePath: "/bin/cat"), input: input)
    if isCancelled { DispatchQueue.global().async { output.cancel() } }
    switch await output.result {
    case .success(let output): return output.standardOutput == input ? nil : "cat wrote something else"
    case .failure(is CancellationError): return isCancelled ? nil : "a process was cancelled"
    case .failure(let error): return "a process failed with \(error)"
    }
  }

  private func awaitNotification(isCancelled: Bool) async -> String? {
    let name = Notification.Name(UUID().uuidString)
    let future = NotificationCenter.default.future(for: name) { _ in 1 }
    DispatchQueue.global().async {
      if isCancelled { future.cancel() } else { NotificationCenter.default.post(name: name, object: nil) }
    }
    switch await future.result {
    case .success: return isCancelled ? "a notification that was not posted arrived" : nil
    case .failure(is CancellationError): return isCancelled ? nil : "a notification was cancelled"
    case .failure(let error): return "a notification failed with \(error)"
    }
  }
}
