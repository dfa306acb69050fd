internal import Foundation
internal import Testing

@testable import CallbackMigration

@Suite("Writing twins")
struct GeneratorTests {
  @Test("A twin keeps what the function says, without its callbacks, and calls it")
  func twins() {
    var builder = GraphBuilder()
    builder.type("class Store", access: "public")
    builder.type("struct User", "Swift.Sendable")
    builder.type("class Request", "Swift.Sendable")
    builder.function("func cancel()", of: "Request")
    builder.function(
      "@MainActor func user<T>(id: Int = 3, _ tag: T, progress: @escaping (Double) -> Void, "
        + "completion: @escaping (User?, (any Error)?) -> Void) throws -> Request where T : Sendable",
      of: "Store",
      access: "public"
    )
    #expect(
      builder.generated() == """
        \(Generator.marker)
        // swift-format-ignore-file

        public import Futures
        import FuturesAsync

        extension Store {
          /// As `user(id:_:progress:completion:)`.
          @MainActor
          public func user<T>(id: Int = 3, _ tag: T, progress: @escaping (Double) -> Void) async throws -> User where T : Sendable {
            try await withCallback("user(id:_:progress:completion:)") { callback in
              do {
                let handle = try self.user(id: id, tag, progress: progress, completion: callback.valueOrErrorHandler)
                callback.onCancel { handle.cancel() }
              } catch {
                callback.resume(throwing: error)
              }
            }
          }

          /// As `user(id:_:progress:completion:)`.
          @MainActor
          public func userFuture<T>(id: Int = 3, _ tag: T) -> Future<User, any Error> where T : Sendable {
            Future("user(id:_:progress:completion:)") { promise in
              let progress = promise.progress
              do {
                let handle = try self.user(id: id, tag, progress: { @Sendable in progress.report(fraction: $0) }, \
        completion: promise.valueOrErrorHandler)
                promise.onCancel { handle.cancel() }
              } catch {
                promise.fail(error)
              }
            }
          }
        }

        """
    )
  }

  @Test(
    "What would be a guess, or not the same, is refused with the reason",
    arguments: [
      ("func f(_ a: Int..., completion: @escaping () -> Void)", "`a` is variadic"),
      ("func f(_ a: inout Int, completion: @escaping () -> Void)", "`a` is `inout`"),
      ("init(completion: @escaping () -> Void)", "an initializer returns before"),
      ("func +++ (l: Int, completion: @escaping () -> Void)", "it is an operator"),
      ("func f(completion: @escaping () -> Void) async", "it is async already"),
      ("func f(body: () throws -> Void, completion: @escaping () -> Void) rethrows", "it rethrows"),
      ("func f(observer: @escaping () -> Void)", "may come again and again"),
      ("func f(_ block: @escaping () -> Void)", "nothing says whether `block` is called once"),
      ("func f(completion: (() -> Void)? = nil)", "without its callback"),
      ("func f(completion: @escaping (Elsewhere) -> Void)", "nothing here says whether `Elsewhere` is Sendable"),
    ]
  )
  func refusals(declaration: String, reason: String) {
    var builder = GraphBuilder()
    builder.function(declaration)
    #expect(builder.generated().contains(reason), "\(builder.generated())")
  }

  @Test("Functions that differ only in their callbacks, private ones, and those with a plain twin are refused")
  func conflicts() {
    var ambiguous = GraphBuilder()
    ambiguous.function("func f(completion: @escaping (Int) -> Void)")
    ambiguous.function("func f(completion: @escaping (String) -> Void)")
    #expect(ambiguous.generated().components(separatedBy: "differs from it only in its callback").count == 3)
    var hidden = GraphBuilder()
    hidden.function("func f(completion: @escaping (Int) -> Void)", access: "private")
    #expect(hidden.generated().contains("it is private"))
    var plain = GraphBuilder()
    plain.function("func f(completion: @escaping (Int) -> Void)")
    plain.function("func f()")
    #expect(plain.generated(.async).contains("`f()` is there"))
    #expect(plain.generated(.futures).contains("func fFuture() -> Future<Int, any Error> {"))
  }

  @Test("Who has a twin gets no other, and a style and a pattern choose")
  func choice() {
    var builder = GraphBuilder()
    builder.function("func done(completion: @escaping (Int) -> Void)")
    builder.function("func done() async throws -> Int")
    builder.function("func doneFuture() -> Future<Int, any Error>")
    #expect(builder.generated() == Generator.marker + "\n// swift-format-ignore-file\n")
    builder.function("func load(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func save(_ id: Int, completion: @escaping (Int) -> Void)")
    #expect(!builder.generated(.async).contains("Future<"))
    #expect(!builder.generated(.futures).contains("async"))
    #expect(builder.generated(.async, only: "save").contains("func save(_ id: Int) async"))
    #expect(!builder.generated(.async, only: "save").contains("func load"))
    #expect(builder.generated(.async, only: "l*completion:)").contains("func load"))
    #expect(!builder.generated(.async, only: "l*completion").contains("func load"))
  }

  @Test("The same module gives the same bytes")
  func stable() {
    var builder = GraphBuilder()
    for number in 0..<20 { builder.function("func f\(number)(completion: @escaping (Int) -> Void)", line: number + 1) }
    #expect(builder.generated() == builder.generated())
  }
}
