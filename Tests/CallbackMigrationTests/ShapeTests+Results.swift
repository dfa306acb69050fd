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
    ]
  }
#endif
