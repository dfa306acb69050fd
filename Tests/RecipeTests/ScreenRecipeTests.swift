import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

/// The network of the recipes, which a test replaces.
private let network = Locked<ExecutionContext>(.global())

func download(_ name: String) -> Future<String, any Error> {
  Future(on: network.withLock(\.self)) { "the text of \(name)" }
}

func avatar(of user: Int) -> Future<String, any Error> {
  Future(on: network.withLock(\.self)) { "image \(user)" }
}

func search(_ text: String) -> Future<[String], any Error> {
  Future(on: network.withLock(\.self)) { ["\(text) 1", "\(text) 2"] }
}

/// An actor that lets other calls run while one waits for the network.
actor JournalServer {
  private static let step = Locked<@Sendable () async -> Void>({})
  private var lines: [String] = []

  static func waits(_ step: @escaping @Sendable () async -> Void) { self.step.withLock { $0 = step } }

  func append(_ line: String) async throws -> Int {
    await Self.step.withLock(\.self)()
    lines.append(line)
    return lines.count
  }
}

@Suite("Recipes of screens and of old callers, in every order", .serialized, .unlessSanitized)
struct ScreenRecipeTests {
  @Test(
    "The article has the code that these tests run",
    arguments: ["ScreenRecipes", "SharedWorkRecipes", "ServiceRecipes", "CallerRecipes"]
  )
  func articleHasTheCode(file: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    let article = root.appending(path: "Sources/FuturesAsync/FuturesAsync.docc/Recipes.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let code = try String(contentsOf: tests.appending(path: "\(file).swift"), encoding: .utf8)
    let declarations = try #require(code.components(separatedBy: "// ----\n\n").last).components(separatedBy: "\n}\n\n")
    #expect(!declarations.isEmpty)
    for declaration in declarations {
      #expect(text.contains(declaration), "Recipes.md has other code than this: \(declaration)")
    }
  }

  @Test("A UIKit screen: a screen that is reused never shows an image of an earlier user")
  @MainActor func avatarLoader() async throws {
    defer { network.withLock { $0 = .global() } }
    var shown: Set<String> = []
    try await exploreOrders { orders in
      network.withLock { $0 = orders.context("network") }
      let loader = AvatarLoader()
      var user: Int? = 1
      var wrong: [String] = []
      loader.show = { image in
        shown.insert(image)
        if image != user.map({ "image \($0)" }) { wrong.append(image) }
      }
      loader.appear(user: 1)
      await orders.step("the user scrolls")
      loader.disappear()
      user = nil
      await orders.step("the cell is reused")
      user = 2
      loader.appear(user: 2)
      try await orders.runAll()
      try Unexpected.unless(wrong.isEmpty, "the screen of \(user as Any) showed \(wrong)")
    }
    #expect(shown == ["image 1", "image 2"])
  }

  @Test("Callers that stay: an actor in the place of a serial queue keeps the order of writes and reads")
  func preferences() async throws {
    var interleavings: Set<String> = []
    let report = try await exploreOrders { orders in
      let preferences = Preferences()
      let reads = Locked<[String]>([])
      for (caller, key) in [("a", "volume"), ("b", "speed")] {
        orders.context(caller).submit {
          for value in 1...2 {
            preferences.set(key, value) { reads.withLock { $0.append("\(caller) set") } }
            preferences.get(key) { read in reads.withLock { $0.append("\(caller) \(read ?? 0)") } }
          }
        }
      }
      try await orders.runAll()
      _ = await Future(on: preferences) { _ in 0 }.value
      let events = reads.withLock(\.self)
      interleavings.insert(events.joined(separator: ", "))
      for caller in ["a", "b"] {
        let own = events.filter { $0.hasPrefix(caller) }
        let expected = ["\(caller) set", "\(caller) 1", "\(caller) set", "\(caller) 2"]
        try Unexpected.unless(own == expected, "the caller \(caller) saw \(own)")
      }
    }
    #expect(interleavings.count > 1)
    #expect(report.isExhaustive)
  }

  @Test("Callers that stay: old calls of async methods run in their order, each after the one before")
  func journal() async throws {
    let report = try await exploreOrders { orders in
      JournalServer.waits { await orders.step("network") }
      let (journal, log) = (Journal(), Recorder<String>())
      for line in ["a", "b", "c"] {
        journal.append(line) { count in log.record("\(line)\((try? count.get()) ?? 0)") }
      }
      try await orders.runAll()
      try Unexpected.unless(log.events == ["a1", "b2", "c3"], "\(log.events)")
    }
    #expect(report.isExhaustive)
  }

  @Test("Callers that stay: each of a thousand reads sees the write of its caller before it", arguments: 1...20)
  func thousandPairs(round: Int) async {
    let preferences = Preferences()
    let (done, reads) = (Promise<Void, Never>(), Locked<[Int?]>([]))
    let count = 1000
    for value in 0..<count {
      preferences.set("a", value) {}
      preferences.get("a") { read in
        let isLast = reads.withLock { reads in
          reads.append(read)
          return reads.count == count
        }
        if isLast { done.succeed() }
      }
    }
    await done.future.value
    let wrong = zip(0..., reads.withLock(\.self)).filter { $0 != $1 }
    #expect(wrong.isEmpty, "\(wrong.count) of \(count) reads came too late or too early: \(wrong.prefix(3))")
  }

  @Test("Search as you type: the rows of an earlier text never come after the next key stroke")
  @MainActor func searchModel() async throws {
    defer { network.withLock { $0 = .global() } }
    var shown: Set<[String]> = []
    try await exploreOrders { orders in
      network.withLock { $0 = orders.context("network") }
      let model = SearchScreenModel(timer: orders.context("keyboard"))
      model.textChanged("a")
      await orders.step("the next key")
      shown.insert(model.rows)
      model.textChanged("ab")
      try await orders.runAll()
      try Unexpected.unless(model.rows == ["ab 1", "ab 2"], "the screen shows \(model.rows)")
    }
    #expect(shown == [[], ["a 1", "a 2"]])
  }

  @Test("A SwiftUI screen: a model whose task was replaced shows the newer text")
  @MainActor func readerModel() async throws {
    defer { network.withLock { $0 = .global() } }
    var shown: Set<String> = []
    try await exploreOrders { orders in
      network.withLock { $0 = orders.context("network") }
      let model = ReaderModel()
      // As `.task(id:)` does: the view cancels the task of the old name, and starts one for the new name.
      let first = Task { await model.load("a") }
      await orders.step("the user selects another name")
      shown.insert("\(model.state)")
      first.cancel()
      let second = Task { await model.load("b") }
      await first.value
      await second.value
      try Unexpected.unless("\(model.state)" == "loaded(\"the text of b\")", "the screen shows \(model.state)")
    }
    #expect(shown.contains("loaded(\"the text of a\")"))
  }
}
