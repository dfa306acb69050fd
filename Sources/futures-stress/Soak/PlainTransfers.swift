import AllocationCounter
import Dispatch
import Foundation
import FuturesTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The operations of `Transfers`, by Foundation alone.
///
/// Foundation for Linux keeps memory after each process, and after some requests. A soak allows that growth.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class PlainTransfers: Sendable {
  private let server: MisbehavingServer
  private let configuration = URLSessionConfiguration.ephemeral

  /// Starts the server.
  /// - Throws: The error of the server's socket.
  init() throws {
    server = try MisbehavingServer()
    configuration.urlCache = nil
  }

  func stop() { server.stop() }

  /// Measures the bytes that an operation leaves on average.
  /// - Parameter seed: Selects the operations.
  /// - Returns: The bytes of one operation.
  func bytesLeft(seed: UInt64) async -> Double {
    await operate(2_000, seed: seed)  // the first operations fill caches
    let before = AllocationCounts.ofProcess().liveBytes
    let count = 6_000
    await operate(count, seed: seed &+ 1)
    return max(0, Double(AllocationCounts.ofProcess().liveBytes - before) / Double(count))
  }

  private func operate(_ count: Int, seed: UInt64) async {
    let tasks = 32
    await withTaskGroup { group in
      for number in 0..<tasks {
        group.addTask {
          var random = SplitMix64(seed: seed &* 1_000 &+ UInt64(number))
          for _ in 0..<count / tasks { await self.perform(TransferOperation(&random)) }
        }
      }
    }
  }

  private func perform(_ operation: TransferOperation) async {
    switch operation {
    case .process(let isCancelled): await runProcess(isCancelled: isCancelled)
    case .notification: break
    case .load(.silent): break
    case .load(let behaviour):
      await withCheckedContinuation { continuation in
        request(behaviour, cancelledAfter: nil) { continuation.resume() }
      }
    case .download(let behaviour, let isCancelled):
      await withCheckedContinuation { continuation in
        request(behaviour, cancelledAfter: isCancelled ? .zero : .milliseconds(200)) { continuation.resume() }
      }
    }
  }

  private func request(
    _ behaviour: MisbehavingServer.Behaviour,
    cancelledAfter limit: Duration?,
    whenEnded: @escaping @Sendable () -> Void
  ) {
    let session = URLSession(configuration: configuration, delegate: Request(whenEnded), delegateQueue: nil)
    let task = session.dataTask(with: URLRequest(url: server.url(behaviour)))
    session.finishTasksAndInvalidate()
    task.resume()
    guard let limit else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { task.cancel() }
  }

  /// The delegate of one request.
  private final class Request: NSObject, URLSessionDataDelegate, Sendable {
    private let whenEnded: @Sendable () -> Void

    init(_ whenEnded: @escaping @Sendable () -> Void) { self.whenEnded = whenEnded }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      whenEnded()
    }
  }

  /// One after another: else a process inherits the pipes of another.
  private static let starts = DispatchQueue(label: "futures-stress.starts")

  private func runProcess(isCancelled: Bool) async {
    await withCheckedContinuation { continuation in
      Self.starts.async {
        let (process, input, output, error) = (Process(), Pipe(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/cat")
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, error)
        process.terminationHandler = { process in
          process.terminationHandler = nil
          continuation.resume()
        }
        do { try process.run() } catch { return continuation.resume() }
        try? input.fileHandleForWriting.write(contentsOf: Data("soak".utf8))
        let files = [input.fileHandleForWriting, output.fileHandleForReading, error.fileHandleForReading]
        for file in files { try? file.close() }
        if isCancelled { process.terminate() }
      }
    }
  }
}
