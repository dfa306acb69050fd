#if DEBUG
  extension ShapeTests {
    /// Callbacks with optional values and an error.
    static let values: [ConvertedShape] = [
      ConvertedShape(
        "returns the call that gets its callback",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          if isNew { return api.load(id: 1, completion: completion) }
          return api.load(id: 2, completion: completion)
        }
        """,
        becomes: """
          if isNew { return try await api.load(id: 1) }
          return try await api.load(id: 2)
          """
      ),
      ConvertedShape(
        "passes its callback without a label",
        "func f(completion: @escaping (Result<String, any Error>) -> Void) { push(1, completion) }",
        becomes: "return try await push(1)"
      ),
      ConvertedShape(
        "returns calls with closures on two levels",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          guard isReady else {
            return api.count { completion(.success($0)) }
          }
          return api.load(id: 2)
          { result in
            guard case .success(let text) = result else { return completion(.failure(APIError.noText)) }
            return api.count { completion(.success($0 + text.count)) }
          }
        }
        """,
        becomes: """
          guard isReady else {
            let value = await api.count()
            return value
          }
          do {
            let text = try await api.load(id: 2)
            let value = await api.count()
            return value + text.count
          } catch {
            throw APIError.noText
          }
          """
      ),
      ConvertedShape(
        "passes its callback to a function that calls it before it returns",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.pair(from: url) { data, error in
            if let error { return completion(.failure(error)) }
            Self.unpack(data!, completion: completion)
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return try Self.unpack(data)
          """
      ),
      ConvertedShape(
        "calls its callback in that of a function that calls it before it returns",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in
            Self.unpack(Data(count: count)) { result in
              completion((try? result.get()) ?? 0)
            }
          }
        }
        """,
        becomes: """
          let count = await api.count()
          let result: Result<Int, any Error>
          do { result = .success(try Self.unpack(Data(count: count))) } catch { result = .failure(error) }
          return (try? result.get()) ?? 0
          """
      ),
      ConvertedShape(
        "calls its callback before it returns",
        """
        func f(_ data: Data, completion: (Result<Int, any Error>) -> Void) {
          guard !data.isEmpty else { return completion(.failure(APIError.noData)) }
          do {
            let value = try decoder.decode(Int.self, from: data)
            completion(.success(value))
          } catch {
            completion(.failure(error))
          }
        }
        """,
        becomes: """
          guard !data.isEmpty else { throw APIError.noData }
          let value = try decoder.decode(Int.self, from: data)
          return value
          """
      ),
      ConvertedShape(
        "ends in a comment with the word return",
        """
        func f(completion: @escaping () -> Void) {
          api.count { _ in
            completion()
            // and now return
          }
        }
        """,
        becomes: """
          _ = await api.count()
          return
          // and now return
          """
      ),
      ConvertedShape(
        "labels a closure after the brackets as its own callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          many(1) { $0 + 1 } completion: { use($0) }
          api.count { completion($0) }
        }
        """,
        becomes: """
          many(1) { $0 + 1 } completion: { use($0) }
          let value = await api.count()
          return value
          """
      ),
      ConvertedShape(
        "returns a call whose callback has a path without the own callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          if isNew { return api.count { if $0 > 1 { completion($0) } } }
          completion(0)
        }
        """,
        becomes: "left: line 2 returns without calling its callback"
      ),
      ConvertedShape(
        "guards the data and passes its error",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.pair(from: url) { data, error in
            guard let data else {
              completion(nil, error)
              return
            }
            completion(data.count, nil)
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return data.count
          """
      ),
      ConvertedShape(
        "guards the data and replaces its error",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.pair(from: url) { data, error in
            guard let data = data, error == nil else {
              completion(.failure(error ?? APIError.noData))
              return
            }
            completion(.success(data.count))
          }
        }
        """,
        becomes: """
          let data: Data?
          let error: (any Error)?
          do {
            data = try await api.pair(from: url)
            error = nil
          } catch let thrown {
            data = nil
            error = thrown
          }
          do {
            guard let data = data, error == nil else {
              throw error ?? APIError.noData
            }
            return data.count
          }
          """
      ),
      ConvertedShape(
        "guards the data and has an error of its own",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.pair(from: url) { data, _ in
            guard let data = data else { return completion(.failure(APIError.noData)) }
            completion(.success(data.count))
          }
        }
        """,
        becomes: """
          do {
            let data = try await api.pair(from: url)
            return data.count
          } catch {
            throw APIError.noData
          }
          """
      ),
      ConvertedShape(
        "looks at the error first",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.pair(from: url) { data, error in
            if let error = error {
              completion(nil, error)
              return
            }
            completion(data!.count, nil)
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return data.count
          """
      ),
      ConvertedShape(
        "looks at the error, then guards the data",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.pair(from: url) { data, error in
            if let error {
              completion(.failure(error))
              return
            }
            guard let data else {
              completion(.failure(APIError.noData))
              return
            }
            completion(.success(data.count))
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return data.count
          """
      ),
      ConvertedShape(
        "checks the status of a response",
        """
        func f(completion: @escaping (Result<Data, any Error>) -> Void) {
          api.response(from: url) { data, response, error in
            if let error = error {
              completion(.failure(error))
              return
            }
            guard let response = response as? HTTPResponse, response.status == 200, let data = data else {
              completion(.failure(APIError.status))
              return
            }
            completion(.success(data))
          }
        }
        """,
        becomes: """
          let data: Data?
          let response: URLResponse?
          let error: (any Error)?
          do {
            (data, response) = try await api.response(from: url)
            error = nil
          } catch let thrown {
            data = nil
            response = nil
            error = thrown
          }
          do {
            if let error = error {
              throw error
            }
            guard let response = response as? HTTPResponse, response.status == 200, let data = data else {
              throw APIError.status
            }
            return data
          }
          """
      ),
      ConvertedShape(
        "an error only",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          api.save("a") { error in
            completion(error)
          }
        }
        """,
        becomes: "try await api.save(\"a\")"
      ),
      ConvertedShape(
        "an error only, from a result",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text):
              show(text)
              completion(nil)
            case .failure(let error):
              completion(error)
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          show(text)
          """
      ),
      ConvertedShape(
        "a flag of success",
        """
        func f(completion: @escaping (Bool) -> Void) {
          api.save("a") { error in
            completion(error == nil)
          }
        }
        """,
        becomes: """
          let error: (any Error)?
          do {
            try await api.save("a")
            error = nil
          } catch let thrown {
            error = thrown
          }
          return error == nil
          """
      ),
      ConvertedShape(
        "an if in an else",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.pair(from: url) { data, error in
            if let data = data {
              completion(data.count, nil)
            } else if let error = error {
              completion(nil, error)
            } else {
              completion(nil, APIError.noData)
            }
          }
        }
        """,
        becomes: """
          let data: Data?
          let error: (any Error)?
          do {
            data = try await api.pair(from: url)
            error = nil
          } catch let thrown {
            data = nil
            error = thrown
          }
          if let data = data {
            return data.count
          } else if let error = error {
            throw error
          } else {
            throw APIError.noData
          }
          """
      ),
    ]
  }
#endif
