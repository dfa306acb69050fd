import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import Testing

/// The network of the recipes, which a test replaces.
private let network = Shared<ExecutionContext>(.global())

func download(_ name: String) -> Future<String, any Error> {
  Future(on: network.withLock(\.self)) { "the text of \(name)" }
}

func avatar(of user: Int) -> Future<String, any Error> {
  Future(on: network.withLock(\.self)) { "image \(user)" }
}

@Suite("Recipes that show something on a screen, in every order", .serialized, .unlessSanitized)
struct RecipeTests {
  @Test("The article has the code that these tests run", arguments: ["ScreenRecipes"])
  func articleHasTheCode(file: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = root.appending(path: "Sources/FuturesAsync/FuturesAsync.docc/Recipes.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let code = try String(contentsOf: tests.appending(path: "\(file).swift"), encoding: .utf8)
    let declarations = try #require(code.components(separatedBy: "// ----\n\n").last).components(separatedBy: "\n}\n\n")
    #expect(declarations.count > 1)
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
