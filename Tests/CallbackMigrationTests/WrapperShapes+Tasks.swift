// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  @testable import CallbackMigration

  extension WrapperShape {
    private static func load(_ callback: String, _ call: String, _ attribute: String = "", _ result: String = "")
      -> String
    {
      """
      \(attribute)func load(completion: \(callback))\(result) {
        api.load { r in DispatchQueue.main.async { \(call) } }
      }
      """
    }

    /// A task that calls back on the main queue.
    private static func task(_ success: String, _ failure: String, start: String = "do {") -> String {
      """
      Task {
      \(start)
      let value = try await self.load()
      DispatchQueue.main.async { \(success) }
      } catch {
      DispatchQueue.main.async { \(failure) }
      }
      }
      """
    }

    /// `--style async`.
    static let tasks = [
      WrapperShape(
        "a task: a result",
        load("@escaping @Sendable (Result<Int, any Error>) -> Void", "completion(r)"),
        "func load() async throws -> Int",
        usesFutures: false,
        becomes: task("completion(.success(value))", "completion(.failure(error))")
      ),
      WrapperShape(
        "a task: a closure without an annotation",
        load("@escaping (Result<Int, any Error>) -> Void", "completion(r)"),
        "func load() async throws -> Int",
        usesFutures: false,
        becomes: task("completion(.success(value))", "completion(.failure(error))")
      ),
      WrapperShape(
        "a task: a type of error that the counterpart throws",
        load("@escaping @Sendable (Result<Int, APIError>) -> Void", "completion(r)"),
        "func load() async throws(APIError) -> Int",
        usesFutures: false,
        becomes: task("completion(.success(value))", "completion(.failure(error))", start: "do throws(APIError) {")
      ),
      WrapperShape(
        "a task: a type of error, and a counterpart of any error",
        load("@escaping @Sendable (Result<Int, APIError>) -> Void", "completion(r)"),
        "func load() async throws -> Int",
        configuration: #"{"failure": {"Store.*": "APIError.wrapping"}}"#,
        usesFutures: false,
        becomes: task(
          "completion(.success(value))",
          "completion(.failure(error as? APIError ?? APIError.wrapping(error)))"
        )
      ),
      WrapperShape(
        "a task: two optional values or an error, and an optional closure",
        load("(@Sendable (Int?, String?, (any Error)?) -> Void)?", "completion?(1, \"\", nil)"),
        "func load() async throws -> (Int, String)",
        usesFutures: false,
        becomes: task("completion?(value.0, value.1, nil)", "completion?(nil, nil, error)")
      ),
      WrapperShape(
        "a task: an error alone",
        load("@escaping @Sendable ((any Error)?) -> Void", "completion(r)"),
        "func load() async throws",
        usesFutures: false,
        becomes: task("completion(nil)", "completion(error)").replacing("let value = ", with: "")
      ),
      WrapperShape(
        "a task: a value alone",
        load("@escaping @Sendable (Int) -> Void", "completion(r)"),
        "func load() async -> Int",
        usesFutures: false,
        becomes: """
          Task {
          let value = await self.load()
          DispatchQueue.main.async { completion(value) }
          }
          """
      ),
      WrapperShape(
        "a task: a function of the main actor",
        load("@escaping (Result<Void, any Error>) -> Void", "completion(r)", "@MainActor "),
        "@MainActor func load() async throws",
        usesFutures: false,
        becomes: """
          Task {
          do {
          try await self.load()
          completion(.success(()))
          } catch {
          completion(.failure(error))
          }
          }
          """
      ),
      WrapperShape(
        "a task: the caller's queue, and a handle",
        """
        func load(queue: DispatchQueue = .main, completion: @escaping @Sendable () -> Void) -> Tracking {
          api.load { queue.async { completion() } }
        }
        """,
        "func load() async",
        usesFutures: false,
        becomes: """
          let task = Task {
          await self.load()
          queue.async { completion() }
          }
          return Tracking(onCancel: { task.cancel() })
          """
      ),
      WrapperShape(
        "a task: the configuration says a place that a task does not have",
        load("@escaping @Sendable () -> Void", "completion()"),
        "func load() async",
        configuration: #"{"context": {"Store.*": ".immediate"}}"#,
        usesFutures: false,
        becomes: "left: a task has no context `.immediate`"
      ),
      WrapperShape(
        "a task: a result without failure, and a counterpart that throws",
        load("@escaping @Sendable (Result<Int, Never>) -> Void", "completion(r)"),
        "func load() async throws -> Int",
        usesFutures: false,
        becomes: "left: its counterpart throws, and its callback gets no error"
      ),
    ]
  }
#endif
