#if DEBUG
  extension ShapeTests {
    private static let head =
      "func f(callbackQueue: DispatchQueue = .main, completion: @escaping (Result<String, any Error>) -> Void)"

    /// Callbacks on a queue that a parameter names.
    static let queues: [ConvertedShape] = [
      ConvertedShape(
        "passes its queue and its callback on",
        """
        \(head) {
          api.send("x", callbackQueue: callbackQueue, completion: completion)
        }
        """,
        becomes: "return try await api.send(\"x\")"
      ),
      ConvertedShape(
        "passes its queue on without a label",
        """
        \(head) {
          self.post(1, callbackQueue) { result in completion(result) }
        }
        """,
        becomes: "return try await self.post(1)"
      ),
      ConvertedShape(
        "calls its callback on its queue, and passes both on",
        """
        \(head) {
          guard isReady else {
            callbackQueue.async {
              completion(.failure(APIError.offline))
            }
            return
          }
          send("x", callbackQueue: callbackQueue) { result in
            switch result {
            case .success(let text): completion(.success(text + "!"))
            case .failure(let error): completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          guard isReady else {
            throw APIError.offline
          }
          let text = try await send("x")
          return text + "!"
          """
      ),
      ConvertedShape(
        "calls its callback on its queue after a call without a queue",
        """
        \(head) {
          load(id: 1) { result in
            callbackQueue.async { completion(result) }
          }
        }
        """,
        becomes: "return try await load(id: 1)"
      ),
      ConvertedShape(
        "calls its callback on its optional queue or the main queue",
        """
        func f(callbackQueue: DispatchQueue? = nil, completion: @escaping (Result<String, any Error>) -> Void) {
          guard isReady else {
            (callbackQueue ?? DispatchQueue.main).async { completion(.failure(APIError.offline)) }
            return
          }
          load(id: 1) { result in
            (callbackQueue ?? .main).async {
              completion(result)
            }
          }
        }
        """,
        becomes: """
          guard isReady else {
          throw APIError.offline
          }
          return try await load(id: 1)
          """
      ),
      ConvertedShape(
        "hops from its optional queue to the main queue",
        """
        func f(callbackQueue: DispatchQueue? = nil, completion: @escaping (Result<String, any Error>) -> Void) {
          load(id: 1) { result in
            (callbackQueue ?? .main).async { completion(result) }
            DispatchQueue.main.async { log() }
          }
        }
        """,
        becomes: "left: its callback hops to the main queue on line 4; isolate the counterpart's caller to it"
      ),
      ConvertedShape(
        "calls its callback on its optional queue or one that a call makes",
        """
        func f(callbackQueue: DispatchQueue? = nil, completion: @escaping (Result<String, any Error>) -> Void) {
          load(id: 1) { result in
            (callbackQueue ?? makeQueue()).async { completion(result) }
          }
        }
        """,
        becomes: "left: line 3 calls its callback in a closure that is not awaited"
      ),
      ConvertedShape(
        "decides on its queue after a failure of its own",
        """
        \(head) {
          let isOffline = mode == 1
          guard isReady else {
            callbackQueue.async {
              if isOffline {
                completion(.failure(APIError.offline))
              } else {
                let text = "late"
                completion(.success(text))
              }
            }
            return
          }
          load(id: 1, completion: completion)
        }
        """,
        becomes: """
          let isOffline = mode == 1
          guard isReady else {
            if isOffline {
              throw APIError.offline
            } else {
              let text = "late"
              return text
            }
          }
          return try await load(id: 1)
          """
      ),
      ConvertedShape(
        "a variable of a closure on its queue",
        """
        \(head) {
          let text = "x"
          guard isReady else {
            callbackQueue.async {
              let text = "late"
              completion(.success(text))
            }
            return
          }
          send(text, callbackQueue: callbackQueue, completion: completion)
        }
        """,
        becomes: """
          let text = "x"
          guard isReady else {
            do {
              let text = "late"
              return text
            }
          }
          return try await send(text)
          """
      ),
      ConvertedShape(
        "does more on its queue",
        """
        \(head) {
          load(id: 1) { result in
            callbackQueue.async {
              self.count += 1
              completion(result)
            }
          }
        }
        """,
        becomes: "left: the closure on line 3 does more on the queue of the callback than call it"
      ),
      ConvertedShape(
        "a closure for a failure that does more on its queue",
        """
        \(head) {
          ask(callbackQueue: callbackQueue, success: { completion(.success("\\($0)")) }, failure: { error in
            self.count += 1
            completion(.failure(error))
          })
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "two closures on its queue",
        """
        \(head) {
          ask(callbackQueue: callbackQueue) { number in
            completion(.success("\\(number)"))
          } failure: { error in
            completion(.failure(error))
          }
        }
        """,
        becomes: """
          let number = try await ask()
          return "\\(number)"
          """
      ),
      ConvertedShape(
        "uses its queue for more",
        """
        \(head) {
          log(callbackQueue.label)
          send("x", callbackQueue: callbackQueue, completion: completion)
        }
        """,
        becomes: "left: it uses `callbackQueue` for more than its callback"
      ),
      ConvertedShape(
        "captures `self` on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { [self] result in
            completion(merged(result))
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "passes a result on from another queue",
        """
        \(head) {
          send("x", callbackQueue: self.queue) { result in
            switch result {
            case .success(let text): completion(.success(text + "!"))
            case .failure(let error): completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await send("x")
          return text + "!"
          """
      ),
      ConvertedShape(
        "a queue or another",
        """
        \(head) {
          post(1, callbackQueue ?? self.queue, completion: completion)
        }
        """,
        becomes: "return try await post(1)"
      ),
      ConvertedShape(
        "passes values of its own on from another queue",
        #"""
        \#(head) {
          let start = 1
          send("x", callbackQueue: self.queue) { result in
            switch result {
            case .success(let text) where text.isEmpty: completion(.failure(APIError.empty(start)))
            case .success(let text): completion(.success("\(text) \(text.count, format: "%d") \(start)"))
            case .failure(let error): completion(.failure(Failure.wrapped("\(error.code)")))
            }
          }
        }
        """#,
        becomes: #"""
          let start = 1
          let result: Result<String, any Error>
          do { result = .success(try await send("x")) } catch { result = .failure(error) }
          switch result {
          case .success(let text) where text.isEmpty: throw APIError.empty(start)
          case .success(let text): return "\(text) \(text.count, format: "%d") \(start)"
          case .failure(let error): throw Failure.wrapped("\(error.code)")
          }
          """#
      ),
      ConvertedShape(
        "a property with the name of a variable in another block",
        """
        \(head) {
          if let count = cached { log(count) }
          if isNew { let count = 1; log(count) }
          send("x", callbackQueue: callbackQueue) { result in completion(.success(count)) }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "the default queue",
        """
        \(head) {
          send("x", callbackQueue: nil, completion: completion)
        }
        """,
        becomes: "return try await send(\"x\")"
      ),
      ConvertedShape(
        "does more on another queue",
        """
        \(head) {
          send("x", callbackQueue: self.queue) { result in
            log(result)
            completion(result)
          }
        }
        """,
        becomes: "left: its callback comes on the queue `self.queue`, and the code after an await would not"
      ),
      ConvertedShape(
        "a queue that a call makes",
        """
        \(head) {
          send("x", callbackQueue: makeQueue(), completion: completion)
        }
        """,
        becomes: "left: its callback comes on the queue that `callbackQueue` names"
      ),
      ConvertedShape(
        "another argument from its queue",
        """
        \(head) {
          post(callbackQueue.id, self.queue, completion: completion)
        }
        """,
        becomes: "left: its callback comes on the queue that `responseQueue` names"
      ),
      ConvertedShape(
        "another argument from its optional queue",
        """
        \(head) {
          post(callbackQueue?.id, self.queue, completion: completion)
        }
        """,
        becomes: "left: its callback comes on the queue that `responseQueue` names"
      ),
      ConvertedShape(
        "another queue without a label",
        """
        \(head) {
          post(1, self.queue, completion: completion)
        }
        """,
        becomes: "left: its callback comes on the queue that `responseQueue` names"
      ),
      ConvertedShape(
        "a queue in async code",
        """
        func f() async {
          send("x", callbackQueue: .global()) { result in
            print(result)
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await send("x")) } catch { result = .failure(error) }
          print(result)
          """
      ),
    ]

    /// Statements that do more on the queue of a callback than pass its result on.
    static let effects: [ConvertedShape] = [
      #"completion(.success("\(self.count)"))"#, #"completion(.success("\(next())"))"#,
      "completion(Self.merged(result))", "completion(self.merged(result))", "completion(merged(result))",
      "completion(.success(model.name))", "completion(cached)", "self.count += 1; completion(result)",
      "if let count = Self.count { completion(.failure(count)) } else { completion(result) }",
      "if self.isOpen { completion(result) } else { completion(.failure(APIError.offline)) }",
      "switch self.state { default: completion(result) }", "let sum = items.map { add($0) }; completion(result)",
      "self.send(\"y\", callbackQueue: callbackQueue, completion: completion)",
      "send(\"y\", callbackQueue: callbackQueue) { other in completion(other) }",
      "let _ = counter.add(result); completion(result)", "let sum = add(result); completion(sum)",
      "completion(Counter.shared.add(result))", "completion(cache[1].add(result))", "completion(merged(&sum, result))",
      "completion(result.map { text in label.text = text; return text })", "completion(result.map { print($0) })",
      "switch result { case .success(let text) where self.has(text): completion(result); default: completion(result) }",
      "if counter.add(result) { completion(result) } else { completion(.failure(APIError.offline)) }",
      "counter.next().send(\"y\", callbackQueue: callbackQueue, completion: completion)",
      "send(counter.next(), callbackQueue: callbackQueue, completion: completion)",
      "completion(Counter.next(result))", "completion(.success(Cache.shared.text))",
      "completion(.success(Cache.shared[1]))", "completion(result.map { $0 + Settings.suffix })",
      "let counter = Counter.shared; completion(counter.add(result))",
      #"completion(.success("\(count)"))"#, #"completion(.success("\(callbackQueue.label)"))"#,
      #"completion(.success("\(Settings.suffix)"))"#, #"completion(.success("\(result, format: style)"))"#,
      #"completion(.success("\(["\(count)"])"))"#,
      "switch result { case .success(let n): completion(n > 0); default: completion(n) }",
      "if case .failure(let n) = result { completion(.failure(n)) } else { completion(n) }",
      "if case .failure = result { let count = 1; completion(.failure(APIError.a(count))) } else { completion(count) }",
    ].map { statement in
      ConvertedShape(
        "does more on its queue: \(statement)",
        "\(head) {\n send(\"x\", callbackQueue: callbackQueue) { result in\n \(statement)\n }\n}",
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      )
    }
  }
#endif
