// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  @testable import CallbackMigration

  extension WrapperShape {
    static let all = results + values + closures + queues + handles + order + left + tasks + state

    private static func main(_ call: String) -> String { "api.load { r in DispatchQueue.main.async { \(call) } }" }

    private static let results = [
      WrapperShape(
        "a result",
        """
        func load(id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
          \(main("completion(r)"))
        }
        """,
        "func load(id: Int) async throws -> Int",
        becomes: "Future { try await self.load(id: id) }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "a result of a type of error that the counterpart throws",
        "func load(completion: @escaping @Sendable (Result<Int, APIError>) -> Void) { \(main("completion(r)")) }",
        "func load() async throws(APIError) -> Int",
        becomes: "Future { () async throws(APIError) in try await self.load() }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "a result of any error, and a counterpart of one type of error",
        "func load(completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { \(main("completion(r)")) }",
        "func load() async throws(APIError) -> Int",
        becomes: """
          Future { () async throws(APIError) in try await self.load() }
          .eraseFailure()
          .forward(on: .main, to: completion)
          """
      ),
      WrapperShape(
        "a result of a type of error, and a counterpart of any error",
        "func load(completion: @escaping @Sendable (Result<Int, APIError>) -> Void) { \(main("completion(r)")) }",
        "func load() async throws -> Int",
        configuration: #"{"failure": {"Store.*": "APIError.wrapping"}}"#,
        becomes: """
          Future { try await self.load() }
          .mapError { $0 as? APIError ?? APIError.wrapping($0) }
          .forward(on: .main, to: completion)
          """
      ),
      WrapperShape(
        "a result of a type of error that nothing makes of another",
        "func load(completion: @escaping @Sendable (Result<Int, APIError>) -> Void) { \(main("completion(r)")) }",
        "func load() async throws -> Int",
        becomes: "left: its counterpart can throw other errors than `APIError`: "
          + #""failure": {"Store.load(completion:)": "APIError.other"}"#
      ),
      WrapperShape(
        "a result, and a counterpart that does not throw",
        "func load(completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { \(main("completion(r)")) }",
        "func load() async -> Int",
        becomes: """
          Future { await self.load() }
          .setFailureType(to: (any Error).self)
          .forward(on: .main, to: completion)
          """
      ),
    ]

    private static let values = [
      WrapperShape(
        "a value or an error",
        """
        func load(_ id: Int, completion: @escaping @Sendable (Int?, (any Error)?) -> Void) {
          \(main("completion(1, nil)"))
        }
        """,
        "func load(_ id: Int) async throws -> Int",
        becomes: "Future { try await self.load(id) }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "two values with names, or an error",
        """
        func load(completion: @escaping @Sendable (_ a: Int?, _ b: Int?, (any Error)?) -> Void) {
          \(main("completion(1, 2, nil)"))
        }
        """,
        "func load() async throws -> (a: Int, b: Int)",
        becomes: """
          Future { try await self.load() }.whenResolved(on: .main) { result in
          switch result {
          case .success(let value): completion(value.0, value.1, nil)
          case .failure(let error): completion(nil, nil, error)
          }
          }
          """
      ),
      WrapperShape(
        "an error alone",
        "func save(completion: @escaping @Sendable ((any Error)?) -> Void) { \(main("completion(nil)")) }",
        "func save() async throws",
        becomes: "Future { try await self.save() }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "a value alone",
        "func count(completion: @escaping @Sendable (Int) -> Void) { \(main("completion(1)")) }",
        "func count() async -> Int",
        becomes: "Future { await self.count() }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "nothing",
        "func close(completion: @escaping @Sendable () -> Void) { \(main("completion()")) }",
        "func close() async",
        becomes: "Future { await self.close() }.whenSucceeded(on: .main) { _ in completion() }"
      ),
      WrapperShape(
        "two values alone",
        "func pair(completion: @escaping @Sendable (Int, String) -> Void) { \(main(#"completion(1, "")"#)) }",
        "func pair() async -> (Int, String)",
        becomes: "Future { await self.pair() }.whenSucceeded(on: .main) { completion($0.0, $0.1) }"
      ),
      WrapperShape(
        "a callback whose name the wrapper would use",
        "func save(result: (@Sendable ((any Error)?) -> Void)?) { \(main("result?(nil)")) }",
        "func save() async throws",
        becomes: """
          Future { try await self.save() }.whenResolved(on: .main) { result_ in
          switch result_ {
          case .success: result?(nil)
          case .failure(let error): result?(error)
          }
          }
          """
      ),
      WrapperShape(
        "success and failure",
        """
        func load(ok: @escaping @Sendable (Int) -> Void, failure: @escaping @Sendable (any Error) -> Void) {
          api.load { r in DispatchQueue.main.async { if let r { ok(r) } else { failure(Lost()) } } }
        }
        """,
        "func load() async throws -> Int",
        becomes: "Future { try await self.load() }.forward(on: .main, onSuccess: ok, onFailure: failure)"
      ),
      WrapperShape(
        "a value beside the error",
        "func load(completion: @escaping @Sendable (Int, (any Error)?) -> Void) { \(main("completion(1, nil)")) }",
        "func load() async throws -> Int",
        becomes: "left: with an error its callback gets a value, too, and its counterpart returns none"
      ),
      WrapperShape(
        "a value alone, and a counterpart that throws",
        "func count(completion: @escaping @Sendable (Int) -> Void) { \(main("completion(1)")) }",
        "func count() async throws -> Int",
        becomes: "left: its counterpart throws, and its callback gets no error"
      ),
    ]

    private static let closures = [
      WrapperShape(
        "a closure without an annotation",
        "func load(completion: @escaping (Result<Int, any Error>) -> Void) { \(main("completion(r)")) }",
        "func load() async throws -> Int",
        becomes: "Future { try await self.load() }.forwardUnsafely(on: .mainQueue, to: completion)"
      ),
      WrapperShape(
        "a closure without an annotation that no function of the library takes",
        "func count(completion: @escaping (Int) -> Void) { \(main("completion(1)")) }",
        "func count() async -> Int",
        becomes: """
          let completion = UncheckedTransfer(completion)
          Future { await self.count() }.whenSucceeded(on: .mainQueue) { completion.value($0) }
          """
      ),
      WrapperShape(
        "a closure without an annotation in a function of the main actor",
        "@MainActor func load(completion: @escaping (Result<Int, any Error>) -> Void) { \(main("completion(r)")) }",
        "@MainActor func load() async throws -> Int",
        becomes: "Future { try await self.load() }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "an optional closure",
        "func save(completion: (@Sendable ((any Error)?) -> Void)?) { \(main("completion?(nil)")) }",
        "func save() async throws",
        becomes: """
          Future { try await self.save() }.whenResolved(on: .main) { result in
          switch result {
          case .success: completion?(nil)
          case .failure(let error): completion?(error)
          }
          }
          """
      ),
      WrapperShape(
        "a value that can be missing without an error",
        """
        func load(completion: @escaping @Sendable (Int?, (any Error)?) -> Void) {
          api.load { r in DispatchQueue.main.async { completion(r, nil) } }
        }
        """,
        "func load() async throws -> Int?",
        configuration: #"{"optional": ["*"]}"#,
        becomes: """
          Future { try await self.load() }.whenResolved(on: .main) { result in
          switch result {
          case .success(let value): completion(value, nil)
          case .failure(let error): completion(nil, error)
          }
          }
          """
      ),
      WrapperShape(
        "a closure of the main actor, wherever the body calls it",
        "func load(completion: @escaping @MainActor (Int?, (any Error)?) -> Void) { api.load(completion) }",
        "func load() async throws -> Int",
        becomes: "Future { try await self.load() }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "progress goes to the counterpart",
        """
        func load(
          progress: @escaping @Sendable (Double) -> Void,
          completion: @escaping @Sendable (Int?, (any Error)?) -> Void
        ) {
          api.load(progress: progress) { r in DispatchQueue.main.async { completion(r, nil) } }
        }
        """,
        "func load(progress: @escaping @Sendable (Double) -> Void) async throws -> Int",
        becomes: "Future { try await self.load(progress: progress) }.forward(on: .main, to: completion)"
      ),
      WrapperShape(
        "progress on a queue",
        """
        func load(
          progress: @escaping @Sendable (Double) -> Void,
          completion: @escaping @Sendable (Int?, (any Error)?) -> Void
        ) {
          api.load { r in DispatchQueue.main.async { progress(1); completion(r, nil) } }
        }
        """,
        "func load(progress: @escaping @Sendable (Double) -> Void) async throws -> Int",
        becomes: "left: line 5 reports progress on a queue, and its counterpart might not"
      ),
    ]
  }
#endif
