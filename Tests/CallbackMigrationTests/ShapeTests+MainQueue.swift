// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  extension ShapeTests {
    private static let hops = [
      ConvertedShape(
        "a hop that passes the result on",
        "load(id: 1) { result in DispatchQueue.main.async { completion(result) } }",
        becomes: "return try await load(id: 1)"
      ),
      ConvertedShape(
        "a hop after a change of the value",
        "load(id: 1) { result in let text = result.map { $0 }\nDispatchQueue.main.async { completion(text) } }",
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await load(id: 1)) } catch { result = .failure(error) }
          let text = result.map { $0 }
          return try text.get()
          """
      ),
      ConvertedShape(
        "a hop that does more",
        "load(id: 1) { result in DispatchQueue.main.async { show()\ncompletion(result) } }",
        becomes: "left: line 3 calls its callback in a closure that is not awaited"
      ),
      ConvertedShape(
        "a hop without the callback",
        "load(id: 1) { result in DispatchQueue.main.async { show() }\ncompletion(result) }",
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await load(id: 1)) } catch { result = .failure(error) }
          DispatchQueue.main.async { show() }
          return try result.get()
          """
      ),
    ]

    @Test("with --allow main-queue, a counterpart leaves out a hop that only passes the result on", arguments: hops)
    func allowedMainQueue(_ shape: ConvertedShape) throws {
      let source = """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          \(shape.source)
        }
        """
      #expect(try ShapeConversion(source).outcome.contains("left: its callback hops to the main queue on line"))
      let outcome = try ShapeConversion(source, allowing: [.mainQueue]).outcome
      #expect(ShapeConversion.withoutIndentation(outcome) == ShapeConversion.withoutIndentation(shape.becomes))
    }
  }
#endif
