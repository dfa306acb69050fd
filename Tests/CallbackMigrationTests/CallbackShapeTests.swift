internal import Testing

@testable import CallbackMigration

@Suite("Telling what a callback is")
struct CallbackShapeTests {
  private func shape(_ declaration: String) throws -> String {
    var builder = GraphBuilder()
    builder.type("enum Fault", "Swift.Error")
    builder.type("typealias Answer = Result<Int, Fault>")
    builder.function(declaration)
    return try #require(builder.functions().first).callbacks.shape.name
  }

  @Test(
    "By its type, and where that leaves it open by its name",
    arguments: [
      ("func f(completion: @escaping (Result<Int, any Error>) -> Void)", "Result"),
      ("func f(completion: @escaping (Answer) -> Void)", "Result"),
      ("func f(x: @escaping (Int?, (any Error)?) -> Void)", "value?, error?"),
      ("func f(x: @escaping (Int?, Fault?) -> Void)", "value?, error?"),
      ("func f(x: @escaping (Int?, String?, (any Error)?) -> Void)", "values?, error?"),
      ("func f(x: @escaping (Int, (any Error)?) -> Void)", "value, error?"),
      ("func f(x: @escaping ((any Error)?) -> Void)", "error?"),
      ("func f(completion: @escaping (Int) -> Void)", "value"),
      ("func f(_ done: (() -> Void)?)", "nothing"),
      ("func f(then: @escaping (Int, String) -> Void)", "values"),
      ("func f(onSuccess: @escaping (Int) -> Void, onFailure: @escaping (any Error) -> Void)", "success, failure"),
      ("func f(observer: @escaping (Int) -> Void)", "many times"),
      ("func observe(_ done: @escaping (Int) -> Void)", "many times"),
      ("func f(_ block: @escaping (Int) -> Void)", "unknown"),
      ("func f(completion: @escaping (any Error) -> Void)", "unknown"),
      ("func f(a: @escaping (Int) -> Void, b: @escaping (Int) -> Void)", "unknown"),
    ]
  )
  func shapes(declaration: String, name: String) throws {
    #expect(try shape(declaration) == name)
  }

  @Test(
    "What does not escape, returns something, waits or throws is no callback",
    arguments: [
      "func f(body: () -> Void)", "func f(body: @escaping () -> Int)", "func f(body: @escaping () async -> Void)",
      "func f(body: @escaping () throws -> Void)", "func f(body: @autoclosure @escaping () -> Void)", "func f(a: Int)",
    ]
  )
  func others(declaration: String) {
    var builder = GraphBuilder()
    builder.function(declaration)
    #expect(builder.functions().isEmpty)
  }

  @Test("Progress is told from the completion, whatever it counts")
  func progress() throws {
    for types in ["Double", "Int64, Int64", "Int, Int?"] {
      var builder = GraphBuilder()
      builder.function("func f(progress: @escaping (\(types)) -> Void, completion: @escaping (Int) -> Void)")
      let callbacks = try #require(builder.functions().first).callbacks
      #expect(callbacks.progress?.parameter == 0, "\(types)")
      #expect(callbacks.completion == 1)
      #expect(callbacks.omitted == [1])
    }
  }
}

@Suite("What may be shared, and cancelled")
struct TypeFactsTests {
  private func function(_ declaration: String) throws -> CallbackFunction {
    var builder = GraphBuilder()
    builder.type("struct User", "Swift.Sendable")
    builder.type("class Image")
    builder.type("class Request", "Swift.Sendable")
    builder.type("class Handle")
    builder.type("class Screen", "Swift.Sendable")
    builder.type("struct Box<T>", "Swift.Sendable")
    builder.function("func cancel()", of: "Request")
    builder.function("func cancel()", of: "Handle")
    builder.function("@MainActor func cancel()", of: "Screen")
    builder.function(declaration)
    return try #require(builder.functions().first)
  }

  @Test(
    "A value is Sendable where the graph or the standard library says so of all its parts",
    arguments: [
      ("User", "yes"), ("[User]?", "yes"), ("[String : User]", "yes"), ("(Int, User)", "yes"), ("Box<Int>", "yes"),
      ("Image", "no"), ("[Image]", "no"), ("(Int, Image)", "no"), ("Box<Image>", "no"), ("() -> Void", "no"),
      ("@Sendable () -> Void", "yes"), ("Elsewhere", "unknown"), ("T", "yes"), ("U", "unknown"), ("any Error", "yes"),
    ]
  )
  func sendable(type: String, answer: String) throws {
    let function = try function(
      "func f<T, U>(completion: @escaping (Result<\(type), any Error>) -> Void) where T : Sendable"
    )
    #expect(function.sendability.rawValue == answer)
  }

  @Test("A handle cancels from any thread, or it is said why not")
  func handles() throws {
    func cancellation(_ type: String) throws -> String {
      switch try function("func f(completion: @escaping (Int) -> Void) -> \(type)").handle {
      case .none: "none"
      case .calls(let call): call
      case .refused(let reason): reason
      }
    }
    #expect(try cancellation("Request") == ".cancel()")
    #expect(try cancellation("Request?") == "?.cancel()")
    #expect(try cancellation("URLSessionDataTask") == ".cancel()")
    #expect(try cancellation("Handle") == "`Handle` is not Sendable")
    #expect(try cancellation("Screen") == "`Screen.cancel()` is isolated")
    #expect(try cancellation("Int") == "none")
    #expect(try cancellation("Void") == "none")
  }
}
