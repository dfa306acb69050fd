#if DEBUG
  extension ShapeTests {
    /// Functions that can succeed without a value, as `"optional"` in the configuration says.
    static let optionals: [ConvertedShape] = [
      ConvertedShape(
        "keeps the guard of a value that can be missing",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          find(id: 1) { text, error in
            if let error { return completion(.failure(error)) }
            guard let text else { return completion(.failure(APIError.noText)) }
            completion(.success(text))
          }
        }
        """,
        becomes: """
          let text = try await find(id: 1)
          do {
            guard let text else { throw APIError.noText }
            return text
          }
          """
      ),
      ConvertedShape(
        "keeps a condition of a value and an error",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          find(id: 1) { text, error in
            guard let text, error == nil else { return completion(.failure(APIError.noText)) }
            completion(.success(text))
          }
        }
        """,
        becomes: """
          let text: String?
          let error: (any Error)?
          do {
            text = try await find(id: 1)
            error = nil
          } catch let thrown {
            text = nil
            error = thrown
          }
          do {
            guard let text, error == nil else { throw APIError.noText }
            return text
          }
          """
      ),
      ConvertedShape(
        "passes an optional value on to a callback of the same kind",
        """
        func f(maybe id: Int, completion: @escaping (String?, (any Error)?) -> Void) {
          load(id: id) { result in
            switch result {
            case .success(let text): completion(texts[text], nil)
            case .failure(let error): completion(nil, error)
            }
          }
        }
        """,
        becomes: """
          let text = try await load(id: id)
          return texts[text]
          """
      ),
      ConvertedShape(
        "succeeds without a value",
        """
        func f(maybe id: Int, completion: @escaping (String?, (any Error)?) -> Void) {
          guard id > 0 else { return completion(nil, nil) }
          find(id: id, completion: completion)
        }
        """,
        becomes: """
          guard id > 0 else { return nil }
          return try await find(id: id)
          """
      ),
      ConvertedShape(
        "passes its callback to a function that cannot succeed without a value",
        """
        func f(maybe id: Int, completion: @escaping (Data?, (any Error)?) -> Void) {
          pair(from: url, completion: completion)
        }
        """,
        becomes: "left: line 2: its callback is not a closure at the call"
      ),
      ConvertedShape(
        "awaits an optional value in async code",
        """
        func f() async {
          find(id: 1) { text, error in
            guard let text = text else {
              show(error)
              return
            }
            show(text)
          }
        }
        """,
        becomes: """
          let text: String?
          let error: (any Error)?
          do {
            text = try await find(id: 1)
            error = nil
          } catch let thrown {
            text = nil
            error = thrown
          }
          do {
            guard let text = text else {
              show(error)
              return
            }
            show(text)
          }
          """
      ),
      ConvertedShape(
        "awaits two optional values",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          match { text, number, error in
            if let error { return completion(.failure(error)) }
            completion(.success((text ?? "") + String(number ?? 0)))
          }
        }
        """,
        becomes: """
          let (text, number) = try await match()
          return (text ?? "") + String(number ?? 0)
          """
      ),
    ]
  }
#endif
