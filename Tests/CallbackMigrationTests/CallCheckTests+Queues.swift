#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The checks of the queue on which a callback comes.
  extension CallCheckTests {
    @Test("the queue that a call names decides where its callback comes")
    func queue() throws {
      func found(
        _ call: String,
        _ isolation: CodeIsolation,
        default value: String? = nil,
        isKept: Bool = false
      ) throws -> [CallRisk?] {
        try refusals("func f() async { \(call) { _ in } }", isolation: isolation) {
          $0.canFail = false
          $0.queue = CallbackQueue(label: "on", name: "queue", defaultValue: value, isKept: isKept)
        }.map(\.risk)
      }
      for main in [".main", "DispatchQueue.main", "OperationQueue.main"] {
        #expect(try found("load(on: \(main))", .mainActor) == [])
        #expect(try found("load(on: \(main))", .none) == [.isolation])
        #expect(try found("load()", .mainActor, default: main) == [])
        #expect(try found("load(on: .global())", .none, default: main) == [])
        #expect(try found("load(on: .global(qos: .utility))", .none, default: main) == [])
        #expect(try found("load(on: DispatchQueue.global(qos: .utility))", .none, default: main) == [])
      }
      #expect(try found("load(on: .global())", .mainActor) == [.isolation])
      #expect(try found("load(on: self.queue)", .none) == [.lock])
      #expect(try found("load(on: first ?? second)", .none) == [.lock])
      #expect(try found("load(on: self.queue)", .mainActor, default: ".main") == [.lock, .isolation])
      for unknown in ["load(on: nil)", "load(on: makeQueue())", "load()", "load(on: .global(qos: level()))"] {
        #expect(try found(unknown, .none) == [nil], "\(unknown)")
      }
      #expect(try found("load(on: .main)", .mainActor, isKept: true) == [nil])
      #expect(
        try checks("func f() async { load(on: .main) { _ in } }") {
          $0.queue = CallbackQueue(label: "on", name: "queue")
        }.ownTextReason == "the counterpart has no queue"
      )
    }

    @Test("a counterpart that was written by hand can keep the queue", arguments: [false, true])
    func keptQueue(isKept: Bool) throws {
      var graph = GraphBuilder()
      graph.function("func load(queue: DispatchQueue = .main, completion: @escaping (Int) -> Void)")
      graph.function("func load(\(isKept ? "queue: DispatchQueue = .main" : "")) async -> Int")
      let function = try #require(graph.inventory().functions.first)
      #expect(function.counterpart(.async).exists && function.counterpart(.async).keepsQueue == isKept)
    }

    @Test("a callback on the main queue, or on that of its function, does not move to another actor")
    func move() throws {
      func canMove(_ isolation: CodeIsolation, own: String? = nil, onMain: Bool = false) throws -> Bool {
        var checks = try checks("func f() { load(on: queue) { _ in } }", isolation: isolation) {
          $0.queue = CallbackQueue(label: "on", name: "queue")
          $0.deliversOnMainQueue = onMain
        }
        checks.ownQueue = own
        return checks.canMove
      }
      #expect(try canMove(.mainActor) && canMove(.actor("its actor")) && !canMove(.none))
      #expect(try !canMove(.mainActor, own: "queue") && !canMove(.actor("its actor"), own: "queue"))
      #expect(try !canMove(.actor("its actor"), onMain: true) && !canMove(.unknown, onMain: true))
    }

    @Test("a queue that the called function names is refused like one that the call names")
    func queueOfTheCalledFunction() throws {
      let found = try refusals("func f() async { load { _ in } }") {
        $0.canFail = false
        $0.otherQueue = "self.queue"
      }
      #expect(found.map(\.risk) == [.lock] && found[0].reason.contains("`self.queue`"))
    }

    @Test("a global queue at the call is not the main queue, although the called function uses that")
    func globalQueue() throws {
      let found = try refusals("func f() async { load(on: .global()) { _ in } }", isolation: .mainActor) {
        $0.canFail = false
        $0.deliversOnMainQueue = true
        $0.queue = CallbackQueue(label: "on", name: "queue")
      }
      #expect(found.map(\.risk) == [.isolation])
    }

    @Test(
      "a queue that can be for more than the callback is refused where a call names it",
      arguments: [
        ("queue: DispatchQueue = .main", "queue.async { completion(1) }", false),
        ("queue: DispatchQueue = .main", "queue.async { let x = work(); completion(x) }", true),
        ("on queue: DispatchQueue = .main", "let x = work(); queue.async { completion(x) }", false),
        ("queue: DispatchQueue = .main", "queue.sync { work() }; completion(1)", true),
        ("callbackQueue: DispatchQueue = .main", "callbackQueue.async { completion(work()) }", false),
        ("queue: DispatchQueue = .main, progress: @escaping (Double) -> Void", "start(queue)", true),
        ("queue: DispatchQueue = .main, filter: @escaping (Int) -> Bool", "start(queue)", true),
      ]
    )
    func otherUses(parameters: String, body: String, hasOtherUses: Bool) throws {
      var queue = try #require(try self.queue(parameters, body))
      #expect(queue.hasOtherUses == hasOtherUses)
      let call = SourceTokens("load(\(queue.label): .global()) { _ in }")
      let site = try #require(CallSite(name: 0, in: call, label: "completion"))
      #expect(queue.place(at: site, own: nil, in: call) == (hasOtherUses ? .unknown : .global))
      queue.hasOtherUses = false
      #expect(queue.place(at: site, own: nil, in: call) == .global)
    }

    /// The queue parameter of a function with a body.
    private func queue(_ parameters: String, _ body: String = "") throws -> CallbackQueue? {
      let declaration = "load(\(parameters), completion: @escaping (Int) -> Void)"
      var graph = GraphBuilder()
      graph.function("func \(declaration)")
      let inventory = graph.inventory()
      let entry = try #require(CounterpartPlan(inPlaceFor: inventory).entries.first)
      // The graph of the test places the name at the start of the file.
      let tokens = SourceTokens("\(declaration) { \(body) }")
      return AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory)?.called.queue
    }

    @Test("of two queues, the one with the name of a callback is dropped, and two without labels are not told apart")
    func twoQueues() throws {
      let two = "queue: DispatchQueue = .global(), callbackQueue: DispatchQueue = .main"
      #expect(try queue(two)?.name == "callbackQueue")
      #expect(try queue("_ work: DispatchQueue, _ responseQueue: DispatchQueue")?.isKept == true)
      #expect(try queue("_ id: Int, _ responseQueue: DispatchQueue")?.isKept == false)
    }

    @Test(
      "a function whose body runs its callback on a queue delivers it there",
      arguments: [
        ("queue.async { completion(1) }", "queue"),
        ("self.queue.async { [weak self] in completion(1) }", "self.queue"),
        ("load { _ in Self.queue.asyncAfter(deadline: .now() + 1) { completion(1) } }", "Self.queue"),
        ("queue.async(execute: { completion(1) })", "queue"),
        ("operations.addOperation { completion(1) }", "operations"),
        ("queue.sync { completion(1) }", "queue"),
        ("context.perform { completion(1) }", "context"),
        ("DispatchQueue.store.async { completion(1) }", "DispatchQueue.store"),
        ("queue.async { work() }; completion(1)", nil),
        ("queue.async { view.completion(1) }", nil),
        ("request.perform { answer in completion(answer) }", nil),
        ("DispatchQueue.main.async { completion(1) }", nil),
        ("DispatchQueue.global(qos: .utility).async { completion(1) }", nil),
        ("DispatchQueue(label: \"work\").async { completion(1) }", nil),
        ("let queue = DispatchQueue.global(); queue.async { completion(1) }", nil),
        ("callbackQueue.async { completion(1) }", nil),
        ("(callbackQueue ?? .main).async { completion(1) }", nil),
      ]
    )
    func deliveryQueue(body: String, name: String?) throws {
      let tokens = SourceTokens("{ \(body) }")
      let braces = 0...tokens.items.count - 1
      #expect(DeliveryQueue.name(in: braces, of: ["completion"], own: "callbackQueue", tokens) == name)
    }

    @Test(
      "code that asks for its thread is refused",
      arguments: [
        "dispatchPrecondition(condition: .onQueue(queue))", "assert(Thread.isMainThread)", "note(Thread.current)",
        "RunLoop.current.run()", "note(OperationQueue.current)", "note(DispatchQueue.getSpecific(key: key))",
      ]
    )
    func thread(_ statement: String) throws {
      let text = "func f() async { load { _ in \(statement) } }"
      #expect(try refusals(text) { $0.canFail = false }.map(\.risk) == [.lock])
      let onMain = try refusals(text, isolation: .mainActor) {
        $0.canFail = false
        $0.deliversOnMainQueue = true
      }
      #expect(onMain == [])
    }
  }
#endif
