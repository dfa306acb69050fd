import Foundation
import Futures
import FuturesTesting
import Synchronization
import Testing

@testable import Newsreader

/// The contracts of the sample app in every order of its responses, its timers and its user; `.ci/explore-sample-app` runs it.
///
/// Not in the app's own test target: that one follows Migration.md, and its last step needs no library.
@Suite("The news reader in every order")
struct NewsreaderOrders {
  @Test(
    "Attempts with timeouts, and a cancellation: one completion, at most three requests, no request after the cancellation"
  )
  func article() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let world = ExploredWorld(orders, answers: [.status(503), .body("text")])
      let loader = ArticleLoader(client: world.client("news"), mirrors: [], scheduler: world)
      let results = Results<String>()
      let handle = loader.article(7) { results.add($0) }
      await orders.step("cancel")
      let requests = world.requestCount
      handle.cancel()
      try await orders.runAll()
      try check(results.all.count == 1, "\(results.all.count) completions")
      try check(world.requestCount == requests, "a request after the cancellation")
      try check(requests <= 3, "\(requests) requests")
    }
    print("article:", report)
  }

  @Test("Mirrors: one completion, with a success if a mirror succeeds")
  func mirrors() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let world = ExploredWorld(orders, answers: [.status(500), .body("text"), .body("text")])
      let mirrors = (1...3).map { world.client("mirror\($0)") }
      let loader = ArticleLoader(client: world.client("news"), mirrors: mirrors, scheduler: world)
      let results = Results<String>()
      loader.mirrored(7) { results.add($0) }
      try await orders.runAll()
      try check(results.all.count == 1, "\(results.all.count) completions")
      try check((try? results.all.first?.get()) == "text", "no text")
    }
    #expect(report.isExhaustive, "\(report)")
    print("mirrors:", report)
  }

  @Test("An image for three callers of which one leaves: each gets one result, and the two others get the image")
  func image() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let world = ExploredWorld(orders, answers: [.body("pixels"), .body("pixels")])
      let cache = ImageCache(client: world.client("news"), scheduler: world)
      let results = (0..<3).map { _ in Results<Data>() }
      let first = cache.image("logo") { results[0].add($0) }
      await orders.step("second caller")
      _ = cache.image("logo") { results[1].add($0) }
      await orders.step("first leaves")
      first.cancel()
      await orders.step("third caller")
      _ = cache.image("logo") { results[2].add($0) }
      try await orders.runAll()
      for result in results { try check(result.all.count == 1, "\(result.all.count) results") }
      for result in results.dropFirst() {
        try check((try? result.all.first?.get()) != nil, "a remaining caller has no image")
      }
      try check(world.requestCount == 1, "\(world.requestCount) requests")
    }
    #expect(report.isExhaustive, "\(report)")
    print("image:", report)
  }

  @Test("A front page of which one feed fails: one completion")
  func frontPage() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let world = ExploredWorld(orders, answers: [.body(feed("a")), .status(500), .body(feed("c"))])
      let results = Results<[Feed]>()
      FeedService(client: world.client("news")).frontPage([1, 2, 3]) { results.add($0) }
      try await orders.runAll()
      try check(results.all.count == 1, "\(results.all.count) completions")
      try check((try? results.all.first?.get()) == nil, "a success in spite of the failure")
    }
    #expect(report.isExhaustive, "\(report)")
    print("frontPage:", report)
  }

  @Test("A download that the user cancels: one completion, and no part is left")
  func download() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let world = ExploredWorld(orders, answers: [.part("one ", 8), .part("two.", 8)])
      let disk = MemoryDisk()
      let enclosures = Enclosures(client: world.client("news"), disk: disk)
      let results = Results<String>()
      let handle = enclosures.download("talk", progress: { _ in }) { results.add($0) }
      await orders.step("cancel")
      handle.cancel()
      try await orders.runAll()
      try check(results.all.count == 1, "\(results.all.count) completions")
      try check(!disk.has("talk.part"), "a part is left")
    }
    #expect(report.isExhaustive, "\(report)")
    print("download:", report)
  }

  @Test("Answers and a lost connection: each question has one result")
  func sync() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let connection = ExploredConnection(orders)
      let client = SyncClient(connection: connection)
      let results = (0..<3).map { _ in Results<String>() }
      client.answer(to: "a") { results[0].add($0) }
      client.answer(to: "b") { results[1].add($0) }
      orders.context("user").run { client.answer(to: "a") { results[2].add($0) } }
      orders.context("line").run { client.didLoseConnection(NewsError.offline) }
      try await orders.runAll()
      for result in results { try check(result.all.count <= 1, "\(result.all.count) results") }
    }
    #expect(report.isExhaustive, "\(report)")
    print("sync:", report)
  }

  @Test("A screen that loads two feeds shows the second: the app has no such contract, and breaks it")
  @MainActor func screen() async throws {
    do {
      try await exploreOrders(limit: 10_000) { orders in
        let world = ExploredWorld(orders, answers: [.body(feed("first")), .body(feed("second"))])
        let model = FeedViewModel(service: FeedService(client: world.client("news")))
        model.load(1) {}
        model.load(2) {}
        try await orders.runAll()
        try check(model.title == "second", "the screen shows the feed \(model.title)")
      }
      Issue.record("The late feed was not found.")
    } catch let failure as OrderFailure {
      print("screen:", failure)
      #expect(failure.order.prefix(2) == ["request 2", "request 1"])
    }
  }
}

private struct Broken: Error, CustomStringConvertible { let description: String }

private func check(_ isTrue: Bool, _ description: String) throws {
  if !isTrue { throw Broken(description: description) }
}

private func feed(_ title: String) -> String { #"{"title": "\#(title)", "headlines": []}"# }

/// The results of a completion handler.
private final class Results<Value: Sendable>: Sendable {
  private let results = Mutex<[Result<Value, any Error>]>([])

  var all: [Result<Value, any Error>] { results.withLock(\.self) }
  func add(_ result: Result<Value, any Error>) { results.withLock { $0.append(result) } }
}

extension ExecutionContext {
  fileprivate func run(_ work: @escaping @Sendable () -> Void) {
    Future<Void, Never>.succeeded(()).whenResolved(on: self) { _ in work() }
  }
}

/// A server with an answer for each request, each on a context of its own, and virtual time.
private final class ExploredWorld: Transport, Scheduler {
  enum Answer {
    case body(String)
    case part(String, Int)
    case status(Int)
  }

  private let orders: Orders
  private let answers: [Answer]
  private let count = Mutex(0)

  init(_ orders: Orders, answers: [Answer]) { (self.orders, self.answers) = (orders, answers) }

  var requestCount: Int { count.withLock(\.self) }
  var now: Duration { orders.now }

  func client(_ host: String) -> HTTPClient {
    HTTPClient(base: URL(string: "https://\(host)")!, transport: self)
  }

  func send(_ request: Request, completion: @escaping @Sendable (Response?, (any Error)?) -> Void) -> any Cancellable {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let context = orders.context("request \(number)")
    let isDone = Ending()
    let answer = number <= answers.count ? answers[number - 1] : .status(500)
    context.run {
      guard isDone.claim() else { return }
      switch answer {
      case .body(let text): completion(Response(status: 200, body: Data(text.utf8), total: text.utf8.count), nil)
      case .part(let text, let total): completion(Response(status: 200, body: Data(text.utf8), total: total), nil)
      case .status(let status): completion(Response(status: status, body: Data(), total: 0), nil)
      }
    }
    // As with `URLSession`, the callback of a cancelled request comes later.
    return CancelAction { [orders] in
      orders.context("cancelled \(number)").run {
        guard isDone.claim() else { return }
        completion(nil, NewsError.cancelled)
      }
    }
  }

  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
    let timer = Future<Void, any Error>.succeeded(()).delay(by: delay, on: orders.context("clock"))
    timer.whenSucceeded(on: .immediate) { work() }
    return CancelAction { timer.cancel() }
  }
}

/// A request that ends once.
private final class Ending: Sendable {
  private let isDone = Mutex(false)

  func claim() -> Bool {
    isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
  }
}

/// A connection that answers each question on a context of its own.
private final class ExploredConnection: SyncConnection {
  private let orders: Orders
  private let delegate = Mutex<(any SyncDelegate)?>(nil)

  init(_ orders: Orders) { self.orders = orders }

  func open(delegate: any SyncDelegate) { self.delegate.withLock { $0 = delegate } }

  func ask(_ question: String) {
    let delegate = delegate.withLock(\.self)
    orders.context("answer \(question)").run { delegate?.didReceive(answer: "yes", forQuestion: question) }
  }
}

private final class MemoryDisk: Disk {
  private let files = Mutex<[String: Data]>([:])

  func has(_ name: String) -> Bool { files.withLock { $0[name] != nil } }
  func read(_ name: String) throws -> Data { files.withLock { $0[name] ?? Data() } }
  func append(_ data: Data, to name: String) throws { files.withLock { $0[name, default: Data()] += data } }
  func rename(_ name: String, to newName: String) throws {
    files.withLock { $0[newName] = $0.removeValue(forKey: name) }
  }
  func remove(_ name: String) { files.withLock { $0[name] = nil } }
}
