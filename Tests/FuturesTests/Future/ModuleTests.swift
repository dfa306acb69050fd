import Foundation
import Testing

@Suite("Modules")
struct ModuleTests {
  @Test("Futures and FuturesAsync do not link Foundation", arguments: ["Futures", "FuturesAsync"])
  func doesNotLinkFoundation(module: String) throws {
    // An object file has entries for the linker, which name the libraries that it needs.
    let products = Bundle.main.bundleURL
    let folder = try #require(
      [products, products.deletingLastPathComponent()]
        .map { $0.appending(path: "\(module).build") }
        .first { FileManager.default.fileExists(atPath: $0.path) }
    )
    let objects = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "o" }
    #expect(!objects.isEmpty)
    let contents = try objects.map { try Data(contentsOf: $0) }
    #expect(contents.contains { $0.range(of: Data("-lswiftSynchronization".utf8)) != nil })
    #expect(!contents.contains { $0.range(of: Data("-lFoundation".utf8)) != nil })
  }
}
