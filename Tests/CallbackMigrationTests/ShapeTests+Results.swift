#if DEBUG
  extension ShapeTests {
    /// Callbacks with a `Result`.
    static let results: [ConvertedShape] = [
      ConvertedShape(
        "decodes in a do",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text):
              do {
                let number = try decode(text)
                completion(.success(number))
              } catch {
                completion(.failure(error))
              }
            case .failure(let error):
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          let number = try decode(text)
          return number
          """
      ),
      ConvertedShape(
        "decodes in a do that wraps its error",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text):
              do {
                completion(.success(try decode(text)))
              } catch {
                completion(.failure(APIError.decoding(error)))
              }
            case .failure(let error):
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          do {
            return try decode(text)
          } catch {
            throw APIError.decoding(error)
          }
          """
      ),
      ConvertedShape(
        "throws the failure of a result in a do",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            do {
              let text = try result.get()
              completion(.success(try decode(text)))
            } catch {
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          return try decode(text)
          """
      ),
      ConvertedShape(
        "maps the result",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            completion(result.map { $0.count })
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await api.load(id: 1)) } catch { result = .failure(error) }
          return try result.map { $0.count }.get()
          """
      ),
      ConvertedShape(
        "maps the result with a throwing closure",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            completion(result.flatMap { text in Result { try decode(text) } })
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await api.load(id: 1)) } catch { result = .failure(error) }
          return try result.flatMap { text in Result { try decode(text) } }.get()
          """
      ),
      ConvertedShape(
        "comments stay",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          // Asks the server.
          api.load(id: 1) { result in
            // Looks at the answer.
            switch result {
            case .success(let text):
              // Counts.
              completion(.success(text.count))
            case .failure(let error): completion(.failure(error))  // Passes it on.
            }
          }
        }
        """,
        becomes: """
          // Asks the server.
          let result: Result<String, any Error>
          do { result = .success(try await api.load(id: 1)) } catch { result = .failure(error) }
          // Looks at the answer.
          switch result {
            case .success(let text):
            // Counts.
            return text.count
            case .failure(let error): throw error  // Passes it on.
          }
          """
      ),
      ConvertedShape(
        "a comment beside the callback",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text): completion(.success(text.count))
            // Never twice.
            case .failure(let error): completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          return text.count
          // Never twice.
          """
      ),
      ConvertedShape(
        "a catch around the call",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          do {
            let id = try makeID()
            api.load(id: id, completion: completion)
          } catch {
            completion(.failure(error))
          }
        }
        """,
        becomes: """
          let id = try makeID()
          return try await api.load(id: id)
          """
      ),
      ConvertedShape(
        "a short error of its type",
        """
        func f(completion: @escaping (Result<Int, APIError>) -> Void) {
          api.count { count in
            guard count > 0 else { return completion(.failure(.empty)) }
            completion(.success(count))
          }
        }
        """,
        becomes: """
          let count = await api.count()
          guard count > 0 else { throw APIError.empty }
          return count
          """
      ),
      ConvertedShape(
        "a condition chooses the result",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.count { count in
            completion(count > 0 ? .success(count) : .failure(APIError.empty))
          }
        }
        """,
        becomes: """
          let count = await api.count()
          return try ((count > 0 ? .success(count) : .failure(APIError.empty)) as Result<Int, any Error>).get()
          """
      ),
      ConvertedShape(
        "nothing to return",
        """
        func f(completion: @escaping (Result<Void, any Error>) -> Void) {
          api.remove(id: 1) { result in
            switch result {
            case .success:
              self.count -= 1
              completion(.success(()))
            case .failure(let error):
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          try await api.remove(id: 1)
          self.count -= 1
          """
      ),
      ConvertedShape(
        "encodes before the call",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          let id: Int
          do {
            id = try makeID()
          } catch {
            completion(.failure(error))
            return
          }
          api.load(id: id, completion: completion)
        }
        """,
        becomes: """
          let id: Int
          do {
            id = try makeID()
          } catch {
            throw error
          }
          return try await api.load(id: id)
          """
      ),
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
