#if DEBUG
  extension ShapeTests {
    /// Callbacks that pass an outcome on, or use names that the new code could hide.
    static let passing: [ConvertedShape] = [
      ConvertedShape(
        "passes its optional error on after a look at it",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          save("x") { error in
            if let error { log(error) }
            if isSilent { completion(nil) } else { completion(error) }
          }
        }
        """,
        becomes: """
          let error: (any Error)?
          do {
          try await save("x")
          error = nil
          } catch let thrown {
          error = thrown
          }
          if let error { log(error) }
          if isSilent { return } else { if let error { throw error }
          return }
          """
      ),
      ConvertedShape(
        "passes an error on that a guard has made a value",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          save("x") { error in
            defaults.count += 1
            guard let error else { return completion(nil) }
            completion(error)
          }
        }
        """,
        becomes: """
          let error: (any Error)?
          do {
          try await save("x")
          error = nil
          } catch let thrown {
          error = thrown
          }
          do {
          defaults.count += 1
          guard let error else { return }
          throw error
          }
          """
      ),
      ConvertedShape(
        "passes an optional value on after a look at the error",
        """
        func f(completion: @escaping (Data?, (any Error)?) -> Void) {
          pair(from: url) { data, error in
            if let error {
              log(error)
              completion(nil, error)
            } else {
              completion(data, nil)
            }
          }
        }
        """,
        becomes: """
          do {
          let data = try await pair(from: url)
          return data
          } catch {
          log(error)
          throw error
          }
          """
      ),
      ConvertedShape(
        "a guard of self and its semicolon",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          load(id: 1) { [weak self] result in guard let self else { return }; count += 1; completion(result) }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await load(id: 1)) } catch { result = .failure(error) }
          count += 1; return try result.get()
          """
      ),
      ConvertedShape(
        "uses its optional error beside its value",
        """
        func f(completion: @escaping (Result<Data, any Error>) -> Void) {
          pair(from: url) { data, error in
            if let failure = error {
              note(error)
              completion(.failure(failure))
              return
            }
            completion(.success(data!))
          }
        }
        """,
        becomes: """
          let data: Data?
          let error: (any Error)?
          do {
          data = try await pair(from: url)
          error = nil
          } catch let thrown {
          data = nil
          error = thrown
          }
          if let failure = error {
          note(error)
          throw failure
          }
          return data!
          """
      ),
      ConvertedShape(
        "two closures that use a variable `result`",
        """
        func f(success: @escaping (String) -> Void, failure: @escaping (any Error) -> Void) {
          let result = compute()
          fetch(path: "x") { text in
            if text.isEmpty { failure(APIError.empty) } else { success(text + result) }
          } failure: { error in
            log(error)
            failure(error)
          }
        }
        """,
        becomes: """
          let result = compute()
          let result1: Result<String, any Error>
          do { result1 = .success(try await fetch(path: "x")) } catch { result1 = .failure(error) }
          switch result1 {
          case .success(let text):
          if text.isEmpty { throw APIError.empty } else { return text + result }
          case .failure(let error):
          log(error)
          throw error
          }
          """
      ),
      ConvertedShape(
        "a variable in a `do` that hides another",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          let id = 1
          log(id)
          do {
            let id = try next(id)
            load(id: id, completion: completion)
          } catch {
            completion(.failure(error))
          }
        }
        """,
        becomes: """
          let id = 1
          log(id)
          do {
          let id = try next(id)
          return try await load(id: id)
          }
          """
      ),
      ConvertedShape(
        "captures its callback in a list",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          load(id: 1) { [completion] result in
            log(result)
            completion(result)
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await load(id: 1)) } catch { result = .failure(error) }
          log(result)
          return try result.get()
          """
      ),
      ConvertedShape(
        "a comment between its callback and a return",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          guard isReady else {
            completion(.failure(APIError.offline)) // try again
            // later
            return
          }
          load(id: 1, completion: completion)
        }
        """,
        becomes: """
          guard isReady else {
            throw APIError.offline // try again
            // later
          }
          return try await load(id: 1)
          """
      ),
      ConvertedShape(
        "has no name for a value, and discards another",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          load(id: 1) { _ in
            _ = touch()
            completion(.success("x"))
          }
        }
        """,
        becomes: """
          _ = try? await load(id: 1)
          _ = touch()
          return "x"
          """
      ),
    ]
  }
#endif
