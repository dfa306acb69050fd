#if DEBUG
  extension ShapeTests {
    /// Forwarded callbacks, two closures, nested calls and a weak `self`.
    static let closures: [ConvertedShape] = [
      ConvertedShape(
        "forwards its callback",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1, completion: completion)
        }
        """,
        becomes: "return try await api.load(id: 1)"
      ),
      ConvertedShape(
        "forwards its callback after a check",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          guard isReady else {
            completion(.failure(APIError.offline))
            return
          }
          log("loads")
          api.load(id: 1, completion: completion)
        }
        """,
        becomes: """
          guard isReady else {
            throw APIError.offline
          }
          log("loads")
          return try await api.load(id: 1)
          """
      ),
      ConvertedShape(
        "forwards the result",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            completion(result)
          }
        }
        """,
        becomes: "return try await api.load(id: 1)"
      ),
      ConvertedShape(
        "forwards the values",
        """
        func f(completion: @escaping (Data?, (any Error)?) -> Void) {
          api.pair(from: url) { completion($0, $1) }
        }
        """,
        becomes: "return try await api.pair(from: url)"
      ),
      ConvertedShape(
        "passes its callback to another function with a counterpart",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.pair(from: url) { data, error in
            guard let data else {
              completion(.failure(error!))
              return
            }
            api.load(id: data.count, completion: completion)
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return try await api.load(id: data.count)
          """
      ),
      ConvertedShape(
        "two levels",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text):
              api.load(id: text.count) { result in
                switch result {
                case .success(let text): completion(.success(text))
                case .failure(let error): completion(.failure(error))
                }
              }
            case .failure(let error): completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          do {
            let text = try await api.load(id: text.count)
            return text
          }
          """
      ),
      ConvertedShape(
        "two levels with pairs",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.pair(from: url) { first, error in
            guard let first = first else { completion(nil, error); return }
            self.api.pair(from: first.next) { second, error in
              guard let second = second else { completion(nil, error); return }
              completion(first.count + second.count, nil)
            }
          }
        }
        """,
        becomes: """
          let first = try await api.pair(from: url)
          let second = try await self.api.pair(from: first.next)
          return first.count + second.count
          """
      ),
      ConvertedShape(
        "three levels of different forms",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.count { count in
            api.load(id: count) { result in
              switch result {
              case .failure(let error): completion(.failure(error))
              case .success(let text):
                api.save(text) { error in
                  if let error {
                    completion(.failure(error))
                  } else {
                    completion(.success(count))
                  }
                }
              }
            }
          }
        }
        """,
        becomes: """
          let count = await api.count()
          let text = try await api.load(id: count)
          try await api.save(text)
          return count
          """
      ),
      ConvertedShape(
        "an inner failure has an answer of its own",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let text):
              api.save(text) { error in
                if let error { log(error) }
                completion(.success(text))
              }
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          do {
            let error: (any Error)?
            do {
              try await api.save(text)
              error = nil
            } catch let thrown {
              error = thrown
            }
            if let error { log(error) }
            return text
          }
          """
      ),
      ConvertedShape(
        "a failure asks again elsewhere",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text): completion(.success(text))
            case .failure: api.load(id: 2, completion: completion)
            }
          }
        }
        """,
        becomes: """
          do {
            let text = try await api.load(id: 1)
            return text
          } catch {
            return try await api.load(id: 2)
          }
          """
      ),
      ConvertedShape(
        "two closures",
        """
        func f(success: @escaping (String) -> Void, failure: @escaping (any Error) -> Void) {
          api.fetch(path: "a", success: { text in
            success(text)
          }, failure: { error in
            failure(error)
          })
        }
        """,
        becomes: """
          let text = try await api.fetch(path: "a")
          return text
          """
      ),
      ConvertedShape(
        "two closures that are passed on",
        """
        func f(success: @escaping (String) -> Void, failure: @escaping (any Error) -> Void) {
          api.fetch(path: "a", success: success, failure: failure)
        }
        """,
        becomes: "return try await api.fetch(path: \"a\")"
      ),
      ConvertedShape(
        "two closures inside, one outside",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.fetch(path: "a") { text in
            completion(.success(text.count))
          } failure: { error in
            completion(.failure(error))
          }
        }
        """,
        becomes: """
          let text = try await api.fetch(path: "a")
          return text.count
          """
      ),
      ConvertedShape(
        "two closures, of which one is passed on",
        """
        func f(success: @escaping (Int) -> Void, failure: @escaping (any Error) -> Void) {
          api.fetch(path: "a", success: { text in success(text.count) }, failure: failure)
        }
        """,
        becomes: """
          let text = try await api.fetch(path: "a")
          return text.count
          """
      ),
      ConvertedShape(
        "two closures whose failure is another error",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.fetch(path: "a", success: { completion(.success($0.count)) }, failure: { completion(.failure(APIError.other($0))) })
        }
        """,
        becomes: """
          do {
            let value = try await api.fetch(path: "a")
            return value.count
          } catch {
            throw APIError.other(error)
          }
          """
      ),
      ConvertedShape(
        "an optional callback",
        """
        func f(completion: ((Result<Int, any Error>) -> Void)? = nil) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text): completion?(.success(text.count))
            case .failure(let error): completion?(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          return text.count
          """
      ),
      ConvertedShape(
        "an optional callback of nothing",
        """
        func f(completion: (() -> Void)? = nil) {
          api.count { count in
            log(count)
            completion?()
          }
        }
        """,
        becomes: """
          let count = await api.count()
          log(count)
          """
      ),
      ConvertedShape(
        "weak self in a guard",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { [weak self] result in
            guard let self = self else { return }
            switch result {
            case .success(let text):
              self.text = text
              completion(.success(text))
            case .failure(let error):
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          self.text = text
          return text
          """
      ),
      ConvertedShape(
        "weak self in a chain",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { [weak self] result in
            switch result {
            case .success(let text):
              self?.cache[1] = text
              self?.log(text)
              completion(.success(text))
            case .failure(let error):
              completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await api.load(id: 1)
          self.cache[1] = text
          self.log(text)
          return text
          """
      ),
      ConvertedShape(
        "weak self as another name",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] count in
            guard let strongSelf = self else { return }
            strongSelf.count = count
            completion(count)
          }
        }
        """,
        becomes: """
          let count = await api.count()
          let strongSelf = self
          strongSelf.count = count
          return count
          """
      ),
      ConvertedShape(
        "weak self among other conditions",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.pair(from: url) { [weak self] data, error in
            guard let self = self, let data = data else {
              completion(nil, error)
              return
            }
            completion(self.size(of: data), nil)
          }
        }
        """,
        becomes: """
          let data = try await api.pair(from: url)
          return self.size(of: data)
          """
      ),
    ]
  }
#endif
