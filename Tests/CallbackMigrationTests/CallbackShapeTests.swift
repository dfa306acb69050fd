internal import CallbackMigration
internal import Testing

@Suite("Telling what a callback is")
struct CallbackShapeTests {
  private func shape(_ declaration: String) throws -> String {
    var builder = GraphBuilder()
    builder.type("enum Fault", "Swift.Error")
    builder.type("typealias Answer = Result<Int, Fault>")
    builder.type("typealias Done = ((Int) -> Void)?")
    builder.function(declaration)
    return try #require(builder.functions().first).callbacks.shape.name
  }

  @Test(
    "The type of a callback decides its shape; if the type is ambiguous, the name decides",
    arguments: [
      ("func f(completion: @escaping (Result<Int, any Error>) -> Void)", "Result"),
      ("func f(completion: @escaping (Answer) -> Void)", "Result"),
      ("func f(completion: @escaping (Int?, (any Error)?) -> Void)", "value?, error?"),
      ("func f(completion: @escaping (Int?, Fault?) -> Void)", "value?, error?"),
      ("func f(completion: @escaping (Int?, String?, (any Error)?) -> Void)", "values?, error?"),
      ("func f(completion: @escaping (Int, (any Error)?) -> Void)", "value, error?"),
      ("func f(completion: @escaping ((any Error)?) -> Void)", "error?"),
      ("func f(completion: @escaping (Int) -> Void)", "value"),
      ("func f(_ done: (() -> Void)?)", "nothing"),
      ("func f(completion: Done)", "value"),
      ("func f(then: @escaping (Int, String) -> Void)", "values"),
      ("func f(onSuccess: @escaping (Int) -> Void, onFailure: @escaping (any Error) -> Void)", "success, failure"),
      ("func f(progress: @escaping (String) -> Void, completion: @escaping (Int) -> Void)", "value"),
      ("func f(observer: @escaping (Int) -> Void)", "many times"),
      ("func observe(_ done: @escaping (Int) -> Void)", "many times"),
      ("func f(_ block: @escaping (Int) -> Void)", "unknown"),
      ("func f(completion: @escaping (any Error) -> Void)", "unknown"),
      ("func f(a: @escaping (Int) -> Void, b: @escaping (Int) -> Void)", "unknown"),
    ]
  )
  func typeAndNameDecideShape(declaration: String, name: String) throws {
    #expect(try shape(declaration) == name)
  }

  @Test(
    "A closure that does not escape, returns a value, awaits or throws is no callback",
    arguments: [
      "func f(body: () -> Void)", "func f(body: @escaping () -> Int)", "func f(body: @escaping () async -> Void)",
      "func f(body: @escaping () throws -> Void)", "func f(body: @autoclosure @escaping () -> Void)", "func f(a: Int)",
    ]
  )
  func otherClosuresAreNoCallbacks(declaration: String) {
    var builder = GraphBuilder()
    builder.function(declaration)
    #expect(builder.functions().isEmpty)
  }

  @Test("A progress closure differs from the completion, with any count type")
  func progressDiffersFromCompletion() throws {
    for types in ["Double", "Int64, Int64", "Int, Int?"] {
      var builder = GraphBuilder()
      builder.function("func f(progress: @escaping (\(types)) -> Void, completion: @escaping (Int) -> Void)")
      let callbacks = try #require(builder.functions().first, "\(types)").callbacks
      #expect(callbacks.progress?.parameter == 0, "\(types)")
      #expect(callbacks.completion == 1, "\(types)")
      #expect(callbacks.omitted == [1], "\(types)")
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
    "A value is Sendable if the graph or the standard library declares all its parts Sendable",
    arguments: [
      ("User", "yes"), ("[User]?", "yes"), ("[String : User]", "yes"), ("(Int, User)", "yes"), ("Box<Int>", "yes"),
      ("Image", "no"), ("[Image]", "no"), ("(Int, Image)", "no"), ("Box<Image>", "no"), ("() -> Void", "no"),
      ("@Sendable () -> Void", "yes"), ("Elsewhere", "unknown"), ("T", "yes"), ("U", "unknown"), ("any Error", "yes"),
    ]
  )
  func valueIsSendableIfAllPartsAre(type: String, answer: String) throws {
    let function = try function(
      "func f<T, U>(completion: @escaping (Result<\(type), any Error>) -> Void) where T : Sendable"
    )
    #expect(function.sendability.rawValue == answer)
  }

  @Test("A handle cancels from any thread, or the tool refuses it with a reason")
  func handleCancelsOrIsRefused() throws {
    func cancellation(_ type: String) throws -> String {
      switch try function("func f(completion: @escaping (Int) -> Void) -> \(type)").handle {
      case .none, .dropped: "none"
      case .calls(let call): call.text(of: "handle")
      case .refused(let refusal): refusal.reason
      }
    }
    #expect(try cancellation("Request") == "handle.cancel()")
    #expect(try cancellation("Request?") == "handle?.cancel()")
    #expect(
      try cancellation("URLSessionDataTask")
        == "nothing says whether `URLSessionDataTask`, which it returns, runs before its caller calls `resume()`"
    )
    #expect(try cancellation("Progress") == "handle.cancel()")
    #expect(try cancellation("Handle") == "handle.value.cancel()")
    #expect(try cancellation("Screen") == "Task { await handle.cancel() }")
    #expect(try cancellation("Int") == "it returns `Int`, which a counterpart cannot return, too")
    #expect(try cancellation("Void") == "none")
  }
}
