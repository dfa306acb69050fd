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
    let built = [products, products.deletingLastPathComponent()]
      .map { $0.appending(path: "\(module).build") }
      .first { FileManager.default.fileExists(atPath: $0.path) }
    // `FUTURES_TESTS=FuturesTests` builds no other library.
    #expect(built != nil || module != "Futures")
    guard let folder = built else { return }
    let objects = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "o" }
    #expect(!objects.isEmpty)
    let contents = try objects.map { try Data(contentsOf: $0) }
    let names = ["-lswiftCore", "-lFoundation", "-lswiftSynchronization"]
    let linked = names.filter { name in contents.contains { $0.range(of: Data(name.utf8)) != nil } }
    #expect(linked == ["-lswiftCore"])
  }
}
