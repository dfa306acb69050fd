// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  @testable import CallbackMigration

  extension WrapperShape {
    /// A function of a value or an error.
    private static func load(_ body: String, _ parameters: String = "", _ result: String = "") -> String {
      "func load(\(parameters)completion: @escaping @Sendable (Int?, (any Error)?) -> Void)\(result) {\n\(body)\n}"
    }

    private static let counterpart = "func load() async throws -> Int"
    private static let unknown =
      #"left: nothing says on which queue its callback comes: "context": {"Store.load(completion:)": ".main"}"#

    private static func wrapper(on context: String, _ start: String = "Future") -> String {
      "\(start) { try await self.load() }.forward(on: \(context), to: completion)"
    }

    static let queues = [
      WrapperShape("the queue of the API", load("api.load { completion($0, nil) }"), counterpart, becomes: unknown),
      WrapperShape("the callback is passed on", load("api.load(completion)"), counterpart, becomes: unknown),
      WrapperShape(
        "one call on the main queue, and one elsewhere",
        load(
          "api.load { r in if r == 0 { completion(r, nil) } else { DispatchQueue.main.async { completion(r, nil) } } }"
        ),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "a call on the main queue, and then one elsewhere",
        load("api.load { r in DispatchQueue.main.async { completion(r, nil) } } failed: { completion(nil, $0) }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "a queue of the type",
        load("api.load { r in self.queue.async { completion(r, nil) } }"),
        counterpart,
        becomes: wrapper(on: ".queue(self.queue)")
      ),
      WrapperShape(
        "a queue of the body",
        load("let queue = DispatchQueue(label: \"\")\napi.load { r in queue.async { completion(r, nil) } }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "a queue that the closure gets",
        load("api.load { queue, r in queue.async { completion(r, nil) } }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "the global queue",
        load("DispatchQueue.global().async { completion(1, nil) }"),
        counterpart,
        becomes: wrapper(on: ".global()")
      ),
      WrapperShape(
        "the callback on the main queue itself",
        load("api.load { DispatchQueue.main.async(execute: completion) }"),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "the queue of a group",
        load("api.load { group.notify(queue: .main) { completion($0, nil) } }"),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "the context of a future",
        load("api.loadFuture().forward(on: .mainQueue, to: completion)"),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "the queue of a future",
        load("api.loadFuture().whenResolved(on: .queue(self.queue)) { completion($0, nil) }"),
        counterpart,
        becomes: wrapper(on: ".queue(self.queue)")
      ),
      WrapperShape(
        "a future without a queue",
        load("api.loadFuture().whenResolved(on: .immediate) { completion($0, nil) }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "a delay",
        load("api.load { DispatchQueue.main.asyncAfter(deadline: .now() + 1) { completion($0, nil) } }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "a task of the main actor",
        load("api.load { r in Task { @MainActor in completion(r, nil) } }"),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "a task",
        load("api.load { r in Task { completion(r, nil) } }"),
        counterpart,
        becomes: unknown
      ),
      WrapperShape(
        "the caller's queue",
        load("api.load { r in queue.async { completion(r, nil) } }", "queue: DispatchQueue = .main, "),
        counterpart,
        becomes: wrapper(on: ".queue(queue)")
      ),
      WrapperShape(
        "the caller's queue, which the counterpart has, too",
        load("api.load { r in queue.async { completion(r, nil) } }", "queue: DispatchQueue = .main, "),
        "func load(queue: DispatchQueue) async throws -> Int",
        becomes: "Future { try await self.load(queue: queue) }.forward(on: .queue(queue), to: completion)"
      ),
      WrapperShape(
        "the caller's queue, which can be missing",
        load("api.load { r in f(queue) { completion(r, nil) } }", "queue: DispatchQueue? = nil, "),
        counterpart,
        becomes: "left: a wrapper needs a `DispatchQueue` for its callback, and `queue` is none: "
          + #""context": {"Store.load(queue:completion:)": ".main"}"#
      ),
      WrapperShape(
        "the documentation says the main queue",
        load("api.load(completion)"),
        counterpart,
        documentation: "Loads.\n- Parameter completion: Called on the main queue.",
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "the documentation denies the main queue",
        load("api.load(completion)"),
        counterpart,
        documentation: "Loads. The completion is not called on the main queue.",
        becomes: unknown
      ),
      WrapperShape(
        "the documentation says where to call the function",
        load("api.load(completion)"),
        counterpart,
        documentation: "Must be called on the main thread. Then the completion gets the value.",
        becomes: unknown
      ),
      WrapperShape(
        "the configuration says another queue than the caller",
        load("api.load { r in queue.async { completion(r, nil) } }", "queue: DispatchQueue = .main, "),
        counterpart,
        configuration: #"{"context": {"Store.*": ".global()"}}"#,
        becomes: wrapper(on: ".queue(queue)")
      ),
      WrapperShape(
        "the configuration says the queue",
        load("api.load(completion)"),
        counterpart,
        configuration: #"{"context": {"Store.*": ".global()"}}"#,
        becomes: wrapper(on: ".global()")
      ),
    ]

    static let handles = [
      WrapperShape(
        "a handle that is made from a closure",
        load("api.load { r in DispatchQueue.main.async { completion(r, nil) } }", "", " -> Tracking"),
        counterpart,
        becomes: """
          let future = Future.immediate { try await self.load() }
          future.forward(on: .main, to: completion)
          return Tracking(onCancel: { future.cancel() })
          """
      ),
      WrapperShape(
        "a handle that a call makes",
        load(
          "api.load { r in DispatchQueue.main.async { completion(r, nil) } }\nreturn track(1)",
          "",
          " -> Tracking"
        ),
        counterpart,
        becomes: """
          let future = Future.immediate { try await self.load() }
          future.forward(on: .main, to: completion)
          return Tracking(onCancel: { future.cancel() })
          """
      ),
      WrapperShape(
        "a handle that is a protocol",
        load("api.load { r in DispatchQueue.main.async { completion(r, nil) } }", "", " -> any Cancellable"),
        counterpart,
        configuration: #"{"handle": {"Store.*": "cancel()"}}"#,
        becomes: """
          let future = Future.immediate { try await self.load() }
          future.forward(on: .main, to: completion)
          return future
          """
      ),
      WrapperShape(
        "a handle that nothing makes",
        load("api.load { r in DispatchQueue.main.async { completion(r, nil) } }", "", " -> Ticket"),
        counterpart,
        becomes: "left: it returns `Ticket`, which a wrapper cannot make; give it an initializer that takes a closure, "
          + "such as `init(onCancel: @escaping @Sendable () -> Void)`"
      ),
      WrapperShape(
        "another value",
        load("api.load { r in DispatchQueue.main.async { completion(r, nil) } }", "", " -> Int"),
        counterpart,
        configuration: #"{"handle": {"Store.*": "none"}}"#,
        becomes: "left: it returns `Int`, which a wrapper cannot make"
      ),
    ]

    static let order = [
      WrapperShape(
        "a callback before the function returns",
        load(
          "if cached { completion(1, nil); return }\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"
        ),
        counterpart,
        becomes: "left: line 2 calls `completion` before it returns, and a wrapper calls it later [order]"
      ),
      WrapperShape(
        "a callback before the function returns, allowed",
        load(
          "if cached { completion(1, nil); return }\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"
        ),
        counterpart,
        allowed: [.order],
        becomes: wrapper(on: ".main", "Future.immediate")
      ),
      WrapperShape(
        "calls in the order of a queue",
        load("DispatchQueue.main.async { completion(1, nil) }"),
        counterpart,
        becomes: "left: the queue on line 2 keeps the order of several calls, and a task does not [order]"
      ),
      WrapperShape(
        "calls in the order of a queue, allowed",
        load("queue.async { DispatchQueue.main.async { completion(1, nil) } }"),
        counterpart,
        allowed: [.order],
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "a concurrent queue keeps no order",
        load("DispatchQueue.global().async { DispatchQueue.main.async { completion(1, nil) } }"),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "a concurrent queue keeps no order of closures that it gets",
        load("DispatchQueue.global().async(execute: completion)"),
        counterpart,
        becomes: wrapper(on: ".global()")
      ),
      WrapperShape(
        "a value that changes at once",
        load("isLoading = true\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        becomes: "left: line 2 has an effect before it returns, and a wrapper starts its work later [order]"
      ),
      WrapperShape(
        "a call before the work",
        load("self.log.note(1)\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        becomes: "left: line 2 has an effect before it returns, and a wrapper starts its work later [order]"
      ),
      WrapperShape(
        "a call before the work whose value is ignored, allowed",
        load("if x { _ = note(1) }\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        allowed: [.order],
        becomes: wrapper(on: ".main", "Future.immediate")
      ),
      WrapperShape(
        "checks, and calls of values of the body",
        load(
          """
          precondition(x > 0)
          let task = session.task(with: url(1)) { r in log(r); DispatchQueue.main.async { completion(r, nil) } }
          task.resume()
          """
        ),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "values of the body, and a value that changes later",
        load(
          """
          var request = Request()
          request.id += 1
          if request.id >= 2, request.page == 1 { request.id = 3 }
          api.load(request) { r in self.last = r; DispatchQueue.main.async { completion(r, nil) } }
          """
        ),
        counterpart,
        becomes: wrapper(on: ".main")
      ),
      WrapperShape(
        "an object that the callback does not keep",
        load("api.load { [weak self] r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        becomes: "left: line 2 captures `weak self`, and a wrapper keeps it [weak-self]"
      ),
      WrapperShape(
        "an object that the callback does not keep, allowed",
        load("api.load { [weak self] r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        allowed: [.weakSelf],
        becomes: wrapper(on: ".main")
      ),
    ]

    static let left = [
      WrapperShape(
        "an `#if`",
        load("#if DEBUG\ncheck()\n#endif\napi.load { r in DispatchQueue.main.async { completion(r, nil) } }"),
        counterpart,
        becomes: "left: it has an `#if` on line 2, of which the compiler sees one branch"
      ),
      WrapperShape("no callback", load("api.load()"), counterpart, becomes: "left: it never calls its callback"),
      WrapperShape(
        "a callback that is kept",
        load("callbacks.append(completion)\nlet last = completion"),
        counterpart,
        becomes: "left: line 3 uses its callback without calling it"
      ),
      WrapperShape(
        "a function that throws",
        "func load(completion: @escaping (Int?, (any Error)?) -> Void) throws { api.load(completion) }",
        counterpart,
        becomes: "left: it throws before its callback comes"
      ),
      WrapperShape(
        "a callback that comes again",
        "func observe(onChange: @escaping @Sendable (Int) -> Void) { DispatchQueue.global().async { onChange(1) } }",
        "func observe() async -> Int",
        becomes: "left: its callback may come again and again; `callbackStream` makes a sequence of it: "
          + #""once": ["Store.observe(onChange:)"]"#
      ),
      WrapperShape(
        "a wrapper already",
        load("Task { do { completion(try await load(), nil) } catch { completion(nil, error) } }"),
        counterpart,
        becomes: "done"
      ),
      WrapperShape(
        "an await of a function of another object",
        load("Task { completion(try? await api.load(), nil) }"),
        counterpart,
        becomes: unknown
      ),
    ]
  }
#endif
