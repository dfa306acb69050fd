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
        "decides on its queue after a failure of its own",
        """
        \(head) {
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
        "a callback that does more on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            self.count += 1
            completion(result)
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "a closure in a variable on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            let sum = items.map { self.add($0) }
            completion(result)
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
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
        "reads `self` on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            completion(self.merged(result))
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "reads an object on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            completion(.success(model.name))
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "calls a function on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            completion(merged(result))
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "reads a static variable on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            if let count = Self.count { completion(.failure(APIError.offline)) } else { completion(result) }
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
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
        "decides by `self` on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            if self.isOpen { completion(result) } else { completion(.failure(APIError.offline)) }
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "switches over `self` on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            switch self.state { default: completion(result) }
          }
        }
        """,
        becomes: "left: its callback does more on the queue that `callbackQueue` names than pass its result on"
      ),
      ConvertedShape(
        "calls on another object on its queue",
        """
        \(head) {
          send("x", callbackQueue: callbackQueue) { result in
            switch result {
            case .success(let text):
              self.send(text, callbackQueue: callbackQueue, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
          }
        }
        """,
        becomes: """
          let text = try await send("x")
          return try await self.send(text)
          """
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
  }
#endif
