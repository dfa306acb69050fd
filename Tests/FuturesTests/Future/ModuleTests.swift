import Foundation
import Testing

struct ModuleTests {
  @Test(
    "Futures and FuturesAsync link neither Foundation nor Synchronization, which needs macOS 15",
    arguments: ["Futures", "FuturesAsync"]
  )
  func linkedLibraries(module: String) throws {
    // An object file has entries for the linker, which name the libraries that it needs.
    let products = Bundle.main.bundleURL
    let objects = [products, products.deletingLastPathComponent()]
      .map { $0.appending(path: "\(module).build") }
      .compactMap { try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
      .joined().filter { $0.pathExtension == "o" }
    // `FUTURES_TESTS=FuturesTests` builds no other library.
    #expect(!objects.isEmpty || module != "Futures")
    guard !objects.isEmpty else { return }
    let contents = try objects.map { try Data(contentsOf: $0) }
    let names = ["-lswiftCore", "-lFoundation", "-lswiftSynchronization"]
    let linked = names.filter { name in contents.contains { $0.range(of: Data(name.utf8)) != nil } }
    #expect(linked == ["-lswiftCore"])
  }
}
