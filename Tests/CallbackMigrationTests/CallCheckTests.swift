// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The checks of a call by the text around it.
  @Suite("Changes that an await would make")
  struct CallCheckTests {
    /// The refusals of the first call of `load` in a text.
    func refusals(
      _ text: String,
      isolation: CodeIsolation = .none,
      _ change: (inout CalledFunction) -> Void = { _ in }
    ) throws -> [CallRefusal] { try checks(text, isolation: isolation, change).refusals }

    func checks(
      _ text: String,
      isolation: CodeIsolation = .none,
      _ change: (inout CalledFunction) -> Void = { _ in }
    ) throws -> CallChecks {
      let tokens = SourceTokens(text)
      let name = try #require(
        tokens.items.indices.first { tokens[$0] == "load" && ["(", "{"].contains(tokens[$0 + 1]) }
      )
      let site = try #require(CallSite(name: name, in: tokens, label: "completion"))
      var function = CalledFunction(title: "Store.load(completion:)", callbackLabel: "completion")
      change(&function)
      let scope = CallScope(of: site, in: tokens)
      return CallChecks(tokens: tokens, site: site, scope: scope, function: function, isolation: isolation)
    }

    func risks(_ text: String, isolation: CodeIsolation = .none) throws -> [CallRisk?] {
      try refusals(text, isolation: isolation).map(\.risk)
    }

    private static let success = "{ result in if case .success(let text) = result { print(text) } else { fail() } }"

    @Test("the compiler's text is not used for a call that can succeed without a value")
    func optionalValue() throws {
      let text = "func f() async { load { text, error in guard let text else { return }\n print(text) } }"
      #expect(try checks(text).ownTextReason == nil)
      #expect(try checks(text) { $0.hasOptionalValue = true }.ownTextReason == "it can succeed without a value")
    }

    @Test("the compiler's text is not used for a closure that could keep a weak object")
    func weakObject() throws {
      func found(_ body: String) throws -> String? {
        try checks("func f() async { load { [weak self] _ in \(body) } }") { $0.canFail = false }.ownTextReason
      }
      #expect(try found("self?.x()") == nil)
      #expect(try found("ticker = Ticker { tick() }") == nil)
      #expect(try found("let text: String? = switch n { case 0: self?.name\ndefault: nil }") == nil)
      #expect(try found("let text: String? = if n > 0 { self?.name } else { nil }") == nil)
      #expect(try found("ticker = Ticker { tick(self) }") == "a closure in its callback uses a weak `self`")
    }

    @Test("a call with nothing around it is not refused")
    func plain() throws {
      #expect(try refusals("func f() async { print(1)\n load \(Self.success) }") == [])
      #expect(try refusals("func f() async { store!.api().load(id: 1) \(Self.success) }") == [])
      #expect(try refusals("func f() async { if a { load \(Self.success) } else { print(2) } }") == [])
      #expect(try refusals("func f() async { guard a else { load \(Self.success)\n return }\n print(2) }") == [])
    }

    @Test(
      "order: a statement after the call is refused",
      arguments: [
        "func f() async { load { _ in }\n print(1) }",
        "func f() async { load { _ in }; print(1) }",
        "func f() async { if a { load { _ in } }\n print(1) }",
        "func f() async { if a { load { _ in } } else { print(2) }\n print(1) }",
        "func f() async { do { load { _ in } } catch { print(2) }\n print(1) }",
        "func f() async { switch a { case 1: load { _ in }\n print(1)\n default: break } }",
        "func f() async -> Int { load { _ in }\n return 1 }",
        "func f() { Task { load { _ in }\n print(1) } }",
      ]
    )
    func order(_ text: String) throws {
      #expect(try refusals(text) { $0.canFail = false }.map(\.risk) == [.order])
    }

    @Test(
      "order: another branch, a return and the code after a task are not refused",
      arguments: [
        "func f() async { switch a { case 1: load { _ in }\n default: print(2) } }",
        "func f() async { if a { load { _ in }\n return }\n print(1) }",
        "func f() async { load { _ in }\n return }",
        "func f() { Task { load { _ in } }\n print(1) }",
        "func f() async {\n #if A\n load { _ in }\n #else\n print(1)\n #endif\n }",
      ]
    )
    func noOrder(_ text: String) throws {
      #expect(try refusals(text) { $0.canFail = false } == [])
    }

    @Test("order: the reason names the line, and a value that is returned")
    func orderReason() throws {
      let text = "func f() async -> Int {\n  load { _ in }\n\n  return 1\n}"
      let found = try refusals(text) { $0.canFail = false }
      #expect(found.map(\.reason) == ["its function returns a value on line 4 without waiting for the callback"])
    }

    @Test("callers: a task that is kept is refused")
    func keptTask() throws {
      for text in [
        "let t = Task { load { _ in } }", "return Task.detached { load { _ in } }", "Task { load { _ in } }.cancel()",
      ] {
        #expect(try refusals("func f() { \(text) }") { $0.canFail = false }.map(\.risk) == [.callers])
      }
      #expect(try refusals("func f() { _ = Task { load { _ in } } }") { $0.canFail = false } == [])
      #expect(
        try refusals("func f() -> Task<Void, Never> { Task { load { _ in } } }") { $0.canFail = false }.map(\.risk) == [
          .callers
        ]
      )
    }

    @Test("loop: a call in a loop is refused", arguments: ["for id in ids", "while a", "rows: for id in ids"])
    func loop(_ head: String) throws {
      #expect(
        try refusals("func f() async { \(head) { if a { load { _ in } } } }") { $0.canFail = false }.map(\.risk) == [
          .loop
        ]
      )
    }

    @Test("defer: a defer before the call is refused, in any block around it, and one elsewhere is not")
    func deferred() throws {
      #expect(
        try refusals("func f() async { defer { a() }\n if b { load { _ in } } }") { $0.canFail = false }.map(\.risk)
          == [
            .defer
          ]
      )
      #expect(try refusals("func f() async { if b { defer { a() } }\n load { _ in } }") { $0.canFail = false } == [])
      #expect(try refusals("func f() async { defer { load { _ in } } }") { $0.canFail = false }.map(\.risk) == [nil])
    }

    @Test(
      "lock: a lock, a group or a semaphore is refused",
      arguments: [
        "lock.lock()\n load { _ in }", "group.enter()\n load { _ in group.leave() }",
        "load { _ in semaphore.signal() }",
        "let m = Mutex(0)\n load { _ in }", "let m = OSAllocatedUnfairLock()\n load { _ in }",
        "DispatchSemaphore(value: 1)\n load { _ in }", "objc_sync_enter(x)\n load { _ in }",
        "let m = NSRecursiveLock()\n load { _ in }", "load { _ in queue.sync { } }",
      ]
    )
    func lock(_ body: String) throws {
      #expect(try refusals("func f() async { \(body) }") { $0.canFail = false }.map(\.risk) == [.lock])
    }

    @Test("weak-self: a weak or unowned capture is refused, self is not, and a copy cannot be allowed")
    func captures() throws {
      func found(_ list: String) throws -> [CallRisk?] {
        try refusals("func f() async { load { [\(list)] result in use(result) } }") { $0.canFail = false }.map(\.risk)
      }
      #expect(try found("weak self") == [.weakSelf])
      #expect(try found("unowned self") == [.weakSelf])
      #expect(try found("self") == [])
      #expect(try found("number") == [nil])
      #expect(try found("weak self, x = y") == [nil])
    }

    @Test("weak-self: a weak capture of the closure for a failure is refused")
    func failureCaptures() throws {
      let call = "load(success: { put($0) }, failure: { [weak self] _ in self?.x() })"
      let tokens = SourceTokens("func f() async { \(call) }")
      let site = try #require(CallSite(name: 6, in: tokens, label: "success", failureLabel: "failure"))
      var function = CalledFunction(title: "Store.load(success:failure:)", callbackLabel: "success")
      function.failureLabel = "failure"
      function.returnsValue = false
      let scope = CallScope(of: site, in: tokens)
      let checks = CallChecks(tokens: tokens, site: site, scope: scope, function: function, isolation: .none)
      #expect(checks.refusals.map(\.risk) == [.weakSelf])
    }

    @Test(
      "main-queue: a hop in the callback is refused",
      arguments: [
        "DispatchQueue.main.async { }", "OperationQueue.main.addOperation { }", "Task { @MainActor in }",
        "MainActor.assumeIsolated { }",
      ]
    )
    func mainQueue(_ hop: String) throws {
      #expect(
        try refusals("func f() async { load { _ in \(hop) } }") { $0.canFail = false }.map(\.risk) == [.mainQueue]
      )
    }

    @Test("isolation: the callback has to come where the code after the await runs")
    func isolation() throws {
      func found(_ isolation: CodeIsolation, onMain: Bool) throws -> [CallRisk?] {
        try refusals("func f() async { load { _ in } }", isolation: isolation) {
          $0.canFail = false
          $0.deliversOnMainQueue = onMain
        }.map(\.risk)
      }
      #expect(try found(.none, onMain: false) == [])
      #expect(try found(.mainActor, onMain: true) == [])
      #expect(try found(.none, onMain: true) == [.isolation])
      #expect(try found(.mainActor, onMain: false) == [.isolation])
      #expect(try found(.actor("its actor"), onMain: false) == [.isolation])
      #expect(try found(.unknown, onMain: false) == [.isolation])
      let isolated = try refusals("func f() async { load { _ in } }") {
        $0.canFail = false
        $0.isCallbackOnMainActor = true
      }
      #expect(isolated.map(\.risk) == [.isolation])
    }

    @Test("cancellation: a counterpart that ends early is refused, but not in a task that nothing can cancel")
    func cancellation() throws {
      func found(_ text: String) throws -> [CallRisk?] {
        try refusals(text) {
          $0.canFail = false
          $0.isCounterpartCancellable = true
        }.map(\.risk)
      }
      #expect(try found("func f() async { load { _ in } }") == [.cancellation])
      #expect(try found("func f() { Task { load { _ in } } }") == [])
    }

    @Test(
      "a value of the call that is used is refused",
      arguments: [
        "let h = load { _ in }", "return load { _ in }", "load { _ in }.resume()", "use(load { _ in })",
        "h = load { _ in }",
      ]
    )
    func handle(_ statement: String) throws {
      let found = try refusals("func f() async { \(statement) }") { $0.canFail = false }
      #expect(found.map(\.reason) == ["the code keeps or uses what the call returns, such as a handle that cancels"])
    }

    @Test("a call that returns nothing is refused in an expression, with a reason of its own")
    func expression() throws {
      let found = try refusals("func f() async { use(load { _ in }) }") {
        $0.canFail = false
        $0.returnsValue = false
      }
      #expect(
        found.map(\.reason) == [
          "it is part of an expression, and an await would make statements of it"
        ]
      )
    }

    @Test("a value of the call that its function returns without a word is refused")
    func implicitReturn() throws {
      #expect(try risks("func f() async -> Handle { load { _ in } }") == [nil])
    }

    @Test("a call through an optional is refused")
    func optionalChain() throws {
      #expect(try refusals("func f() async { store?.api.load { _ in } }") { $0.canFail = false }.map(\.risk) == [nil])
    }

    @Test("a callback that is not a closure at the call is refused")
    func callbackLiteral() throws {
      #expect(try risks("func f() async { load(completion: handler) }") == [nil])
      #expect(try refusals("func f() async { load(id: { 1 }, completion: { _ in }) }") { $0.canFail = false } == [])
    }

    @Test("a shape without an async counterpart is refused")
    func function() throws {
      #expect(
        try refusals("func f() async { load { _ in } }") { $0.shapeRefusal = "many times" }.map(\.reason) == [
          "many times"
        ]
      )
    }

    @Test("an attribute on the line before a private function isolates it")
    func attributeBefore() throws {
      for attributes in ["@MainActor\n", "@MainActor @inline(never)\n", "@available(*, deprecated)\n@MainActor\n"] {
        let tokens = SourceTokens("struct S {\n\(attributes)private func f() async { load { _ in } }\n}")
        let name = try #require(tokens.items.indices.first { tokens[$0] == "load" })
        let scope = CallScope(of: try #require(CallSite(name: name, in: tokens, label: "completion")), in: tokens)
        let found = CodeIsolationFacts([]).isolation(of: scope, tokens, path: "/F.swift", type: "S") { _ in nil }
        #expect(found == .mainActor, "\(attributes)")
      }
    }

    @Test("the main queue as an argument is the main queue, and not every argument `.main`")
    func mainQueueArgument() throws {
      #expect(try risks("func f() async { load { _ in hop(queue: .main) } }") == [.mainQueue])
      #expect(try risks("func f() async { load { _ in hop(callbackQueue: .main) } }") == [.mainQueue])
      #expect(try risks("func f() async { load { _ in hop(on: .main) } }") == [.mainQueue])
      #expect(try risks("func f() async { load { _ in hop(queue ?? .main) } }") == [.mainQueue])
      #expect(try risks("func f() async { load { _ in image(bundle: .main) } }") == [])
    }

    @Test(
      "a statement for success and failure alike is not left to the compiler",
      arguments: [
        "log()\n switch result { case .success: a()\n case .failure: b() }",
        "switch result { case .success: a()\n case .failure: b() }\n log()",
        "if case .success = result { a() }\n log()",
        "if let text { a(text) }\n if let error { b(error) }",
        "guard let text else { return }\n guard error == nil else { return }",
      ]
    )
    func branches(_ body: String) throws {
      let parameters = body.contains("result") ? "result" : "text, error"
      let found = try checks("func f() async { load { \(parameters) in \(body) } }")
      #expect(found.ownTextReason != nil && found.refusals == [])
    }

    @Test(
      "a callback that looks at its result once is left to the compiler",
      arguments: [
        "switch result { case .success: a()\n case .failure: b() }",
        "if let error { b(error)\n return }\n a(text!)",
        "if let error { b(error) } else if let text { a(text) }",
        "guard let text else { b()\n return }\n a(text)\n log()",
      ]
    )
    func noBranches(_ body: String) throws {
      let parameters = body.contains("result") ? "result" : "text, error"
      let found = try checks("func f() async { load { \(parameters) in \(body) } }")
      #expect(found.ownTextReason == nil && found.refusals == [])
    }

    @Test("brackets that do not match are refused")
    func brackets() throws {
      #expect(try risks("func f() async { load { _ in } } )") == [nil])
    }
  }
#endif
