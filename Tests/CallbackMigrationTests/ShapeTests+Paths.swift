#if DEBUG
  extension ShapeTests {
    /// Functions with paths that are hard to see: cases, labels, loops and `defer`.
    static let paths: [ConvertedShape] = [
      ConvertedShape(
        "an unknown case without the callback",
        """
        func f(mode: Mode, completion: @escaping (Int) -> Void) {
          switch mode {
          case .slow: api.count { completion($0) }
          case .fast: completion(0)
          @unknown default: break
          }
        }
        """,
        becomes: "left: a path through it ends without calling its callback"
      ),
      ConvertedShape(
        "an unknown case with the callback",
        """
        func f(mode: Mode, completion: @escaping (Int) -> Void) {
          switch mode {
          case .slow: api.count { completion($0) }
          case .fast: completion(0)
          @unknown default: completion(1)
          }
        }
        """,
        becomes: """
          switch mode {
          case .slow: let value = await api.count()
          return value
          case .fast: return 0
          @unknown default: return 1
          }
          """
      ),
      ConvertedShape(
        "an unknown case on the queue of its parameter",
        """
        func f(mode: Mode, callbackQueue: DispatchQueue = .main, completion: @escaping (Int) -> Void) {
          callbackQueue.async {
            switch mode {
            case .fast: completion(0)
            @unknown default: completion(1)
            }
          }
        }
        """,
        becomes: """
          switch mode {
          case .fast: return 0
          @unknown default: return 1
          }
          """
      ),
      ConvertedShape(
        "a return in a loop with a label",
        """
        func f(rows: [Int], completion: @escaping (Int) -> Void) {
          all: for row in rows {
            if row < 0 { return }
          }
          api.count { completion($0) }
        }
        """,
        becomes: "left: line 3 returns without calling its callback"
      ),
      ConvertedShape(
        "a return in an `if` with a label",
        """
        func f(completion: @escaping (Int) -> Void) {
          retry: if isNew {
            return
          }
          api.count { completion($0) }
        }
        """,
        becomes: "left: line 3 returns without calling its callback"
      ),
      ConvertedShape(
        "a return after a break of another path",
        """
        func f(id: Int, completion: @escaping (Int) -> Void) {
          switch id {
          case 1:
            if isNew { break }
            if isOld { return }
            note("new")
          default: note("old")
          }
          api.count { completion($0) }
        }
        """,
        becomes: "left: line 5 returns without calling its callback"
      ),
      ConvertedShape(
        "passes its callback to a synchronous call after a defer",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          api.count { n in
            self.isBusy = true
            defer { self.isBusy = false }
            unpack(data, completion: completion)
          }
        }
        """,
        becomes: "left: the `defer` on line 4 ran after its callback, and would run before the code after an await"
      ),
      ConvertedShape(
        "calls its callback in a loop, and returns",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { n in
            for user in users where user.id == n {
              completion(user.age)
              return
            }
            completion(0)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          for user in users where user.id == n {
            return user.age
          }
          return 0
          """
      ),
      ConvertedShape(
        "returns its callback in a loop with other paths",
        """
        func f(completion: @escaping (Result<String, any Error>) -> Void) {
          for user in users {
            guard user.isNew else { continue }
            switch user.kind {
            case .guest: break
            case .owner: completion(.success(user.name)); return
            case .other: return completion(.failure(APIError.other))
            }
          }
          load(id: 1, completion: completion)
        }
        """,
        becomes: """
          for user in users {
            guard user.isNew else { continue }
            switch user.kind {
            case .guest: break
            case .owner: return user.name
            case .other: throw APIError.other
            }
          }
          return try await load(id: 1)
          """
      ),
      ConvertedShape(
        "calls its callback in a loop, and goes on",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in
            for user in users { completion(user.age) }
          }
        }
        """,
        becomes: "left: line 3 calls its callback in a loop or a `defer`"
      ),
      ConvertedShape(
        "calls its callback in a loop, and returns on some paths only",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { count in
            for user in users {
              if user.isOwner { completion(user.age); return }
              if user.isGuest { return }
            }
            completion(0)
          }
        }
        """,
        becomes: "left: line 5 returns without calling its callback"
      ),
      ConvertedShape(
        "leaves the callback of a synchronous call, and not the loop around it",
        """
        func f(completion: @escaping (Result<Int, any Error>) -> Void) {
          for data in all {
            unpack(data) { result in
              completion(result)
              return
            }
          }
        }
        """,
        becomes: "left: line 4 calls its callback in a loop or a `defer`"
      ),
      ConvertedShape(
        "a return without the callback after a loop that returns it",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { n in
            for user in users where user.id == n {
              completion(user.age)
              return
            }
          }
        }
        """,
        becomes: "left: a path through it ends without calling its callback"
      ),
    ]
  }
#endif
