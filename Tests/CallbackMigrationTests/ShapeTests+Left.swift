#if DEBUG
  extension ShapeTests {
    /// Functions that stay, each for its reason.
    static let left: [ConvertedShape] = [
      ConvertedShape(
        "leaves a switch before its callback",
        """
        func f(id: Int, completion: @escaping ((any Error)?) -> Void) {
          switch id {
          case 1:
            if isNew { break }
            api.save("a", completion: completion)
          default: completion(nil)
          }
        }
        """,
        becomes: "left: a path through it ends without calling its callback"
      ),
      ConvertedShape(
        "leaves the switch of a result before its callback",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          api.load(id: 1) { result in
            switch result {
            case .success(let text):
              if text.isEmpty { break }
              completion(nil)
            case .failure(let error): completion(error)
            }
          }
        }
        """,
        becomes: "left: a path through it ends without calling its callback"
      ),
      ConvertedShape(
        "has code after a return that becomes a bare one",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          return api.save("a") { completion($0) }
          note("dead")
        }
        """,
        becomes: "left: line 3 is after a `return`, and never runs; delete it"
      ),
      ConvertedShape(
        "has code after its callback in a return",
        """
        func f(completion: @escaping ((any Error)?) -> Void) {
          api.save("a") { error in
            return completion(error)
            note("dead")
          }
        }
        """,
        becomes: "left: line 4 is after a `return`, and never runs; delete it"
      ),
      ConvertedShape(
        "has code after a synchronous call that gets its callback",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          unpack(data, completion: completion)
          note("after")
        }
        """,
        becomes: "left: line 3 runs after its callback"
      ),
      ConvertedShape(
        "passes its callback on in a loop",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          for data in all { unpack(data, completion: completion) }
        }
        """,
        becomes: "left: line 2 calls its callback in a loop or a `defer`"
      ),
      ConvertedShape(
        "passes its callback to a helper that is no call of the plan",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.pair(from: url) { data, error in
            decodeJSON(data, completion: completion)
          }
        }
        """,
        becomes: "left: line 3 passes its callback to `decodeJSON`, whose calls cannot be awaited"
      ),
      ConvertedShape(
        "a value of weak self",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] count in
            let limit = self?.limit
            completion(min(count, limit ?? 0))
          }
        }
        """,
        becomes: "left: line 3 has an optional value of `self?`, and `self` gives another type"
      ),
      ConvertedShape(
        "hops to the main queue",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            DispatchQueue.main.async { completion(result) }
          }
        }
        """,
        becomes: "left: its callback hops to the main queue on line 3; isolate the counterpart's caller to it"
      ),
      ConvertedShape(
        "hops to a queue",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          api.load(id: 1) { result in
            self.queue.async { completion(result) }
          }
        }
        """,
        becomes: "left: line 3 calls its callback in a closure that is not awaited"
      ),
      ConvertedShape(
        "a path without the callback",
        """
        func f(completion: @escaping (String) -> Void) {
          api.load(id: 1) { result in
            if case .success(let text) = result { completion(text) }
          }
        }
        """,
        becomes: "left: a path through it ends without calling its callback"
      ),
      ConvertedShape(
        "returns before the callback",
        """
        func f(completion: @escaping (String) -> Void) {
          guard isReady else { return }
          api.load(id: 1) { result in
            completion((try? result.get()) ?? "")
          }
        }
        """,
        becomes: "left: line 2 returns without calling its callback"
      ),
      ConvertedShape(
        "something runs after the callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in
            completion(count)
            self.isLoading = false
          }
        }
        """,
        becomes: "left: line 4 runs after its callback"
      ),
      ConvertedShape(
        "a defer runs after the callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in
            defer { self.isLoading = false }
            completion(count)
          }
        }
        """,
        becomes: "left: the `defer` on line 3 ran after its callback, and would run before the code after an await"
      ),
      ConvertedShape(
        "something runs after the call",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in completion(count) }
          log("asked")
        }
        """,
        becomes: "left: the statement on line 3 ran before the callback, and would run after it"
      ),
      ConvertedShape(
        "a call in a loop",
        """
        func f(completion: @escaping (Int) -> Void) {
          for id in ids { api.load(id: id) { result in log(result) } }
          completion(ids.count)
        }
        """,
        becomes: "left: the statement on line 3 ran before the callback, and would run after it"
      ),
      ConvertedShape(
        "calls at the same time with a group",
        """
        func f(completion: @escaping (Int) -> Void) {
          let group = DispatchGroup()
          group.enter()
          api.count { count in
            self.add(count)
            group.leave()
          }
          group.notify(queue: .main) { completion(self.sum) }
        }
        """,
        becomes: "left: the statement on line 8 ran before the callback, and would run after it"
      ),
      ConvertedShape(
        "keeps the callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          waiting.append(completion)
          api.count { count in self.deliver(count) }
        }
        """,
        becomes: "left: line 2 passes its callback to `append`, whose calls cannot be awaited"
      ),
      ConvertedShape(
        "code for one system",
        """
        func f(completion: @escaping (Int) -> Void) {
          #if os(Linux)
          completion(0)
          #else
          api.count { count in completion(count) }
          #endif
        }
        """,
        becomes: "left: it has an `#if` on line 2, of which the compiler sees one branch"
      ),
      ConvertedShape(
        "a value or nothing",
        """
        func f(completion: @escaping (Int?, (any Error)?) -> Void) {
          api.count { count in
            completion(nil, nil)
          }
        }
        """,
        becomes: "left: line 3 calls its callback with neither a value nor an error"
      ),
      ConvertedShape(
        "a value and an error",
        """
        func f(completion: @escaping (Data?, (any Error)?) -> Void) {
          api.pair(from: url) { data, error in
            completion(data?.trimmed, error)
          }
        }
        """,
        becomes: "left: line 3 passes a value and an error, of which one can be `nil`"
      ),
      ConvertedShape(
        "a catch around the call that wraps",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          do {
            let id = try makeID()
            api.load(id: id, completion: completion)
          } catch {
            completion(.failure(APIError.other(error)))
          }
        }
        """,
        becomes: "left: the `catch` of a `do` around line 4 would get the failure, and the callback gets it now"
      ),
      ConvertedShape(
        "returns without the callback in a branch",
        """
        func f(completion: @escaping (Int) -> Void) {
          if isLoading {
            log("is loading")
            return
          }
          api.count { count in completion(count) }
        }
        """,
        becomes: "left: line 4 returns without calling its callback"
      ),
    ]
  }
#endif
