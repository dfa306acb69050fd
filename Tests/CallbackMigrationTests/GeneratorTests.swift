internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Writing counterparts")
struct GeneratorTests {
  @Test("A generated function keeps the declaration without its callbacks, and calls the original")
  func counterpartCallsItsFunction() {
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

        public import Futures
        import FuturesAsync

        extension Store {
          /// The async counterpart of ``user(id:_:progress:completion:)``.
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

          /// The future counterpart of ``user(id:_:progress:completion:)``.
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
    "The tool refuses a function that would need a guess, with a reason",
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
      ("func f(completion: @escaping (Elsewhere) -> Void)", "1 function has one of its two counterparts"),
    ]
  )
  func unsafeFunctionsAreRefused(declaration: String, reason: String) {
    var builder = GraphBuilder()
    builder.function(declaration)
    #expect(builder.generated().contains(reason), "\(builder.generated())")
  }

  @Test("The tool refuses ambiguous functions, private functions and functions with a plain counterpart")
  func conflictingFunctionsAreRefused() {
    var ambiguous = GraphBuilder()
    ambiguous.function("func f(completion: @escaping (Int) -> Void)")
    ambiguous.function("func f(completion: @escaping (String) -> Void)")
    #expect(ambiguous.generated().contains("1. another function differs from it only in its callback"))
    #expect(ambiguous.generated().components(separatedBy: "App.swift:1: f(completion:)").count == 3)
    var hidden = GraphBuilder()
    hidden.function("func f(completion: @escaping (Int) -> Void)", access: "private")
    #expect(hidden.generated().contains("it is private"))
    var plain = GraphBuilder()
    plain.function("func f(completion: @escaping (Int) -> Void)")
    plain.function("func f()")
    #expect(plain.generated(.async).contains("`f()` is there"))
    #expect(plain.generated(.futures).contains("func fFuture() -> Future<Int, any Error> {"))
  }

  @Test("A function with a counterpart gets no other; a style and a pattern select the rest")
  func styleAndPatternChoose() {
    var builder = GraphBuilder()
    builder.function("func done(completion: @escaping (Int) -> Void)")
    builder.function("func done() async throws -> Int")
    builder.function("func doneFuture() -> Future<Int, any Error>")
    #expect(builder.generated() == Generator.marker + "\n")
    builder.function("func load(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func save(_ id: Int, completion: @escaping (Int) -> Void)")
    #expect(!builder.generated(.async).contains("Future<"))
    #expect(!builder.generated(.futures).contains("async"))
    #expect(builder.generated(.async, only: "save").contains("func save(_ id: Int) async"))
    #expect(!builder.generated(.async, only: "save").contains("func load"))
    #expect(builder.generated(.async, only: "l*completion:)").contains("func load"))
    #expect(!builder.generated(.async, only: "l*completion").contains("func load"))
  }

  @Test("A pattern adds to the file that was written before")
  func patternKeepsWhatWasWritten() {
    var builder = GraphBuilder()
    builder.function("func load(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func save(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func loadFuture(_ id: Int) -> Future<Int, any Error>", file: "Sources/App/Counterparts.swift")
    let inventory = builder.inventory(ignoring: "/package/Sources/App/Counterparts.swift")
    let text = Generator(inventory, style: .async, only: "save").text
    #expect(text.contains("func save(_ id: Int) async"), "\(text)")
    #expect(text.contains("func loadFuture(_ id: Int) ->"), "\(text)")
    #expect(!text.contains("func load(_ id: Int) async"), "\(text)")
    let selected = Generator(inventory, style: .async, only: "load").text
    #expect(!selected.contains("func loadFuture"), "\(selected)")
  }

  @Test("One module always produces the same bytes")
  func outputIsStable() {
    var builder = GraphBuilder()
    for number in 0..<20 { builder.function("func f\(number)(completion: @escaping (Int) -> Void)", line: number + 1) }
    #expect(builder.generated() == builder.generated())
  }
}
