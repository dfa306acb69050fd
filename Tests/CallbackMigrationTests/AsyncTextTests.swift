// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The text that the tool writes itself, without the compiler's refactorings.
  @Suite("The text of awaited calls")
  struct AsyncTextTests {
    /// The called functions of the tests, by name.
    private static let forms: [String: (form: ResultForm, label: String, failure: String?, canThrow: Bool)] = [
      "load": (.result(value: "String", failure: "any Error"), "completion", nil, true),
      "remove": (.result(value: "Void", failure: "any Error"), "completion", nil, true),
      "pair": (.valuesOrError(["Data"]), "completion", nil, true),
      "response": (.valuesOrError(["Data", "Response"]), "completion", nil, true),
      "count": (.values(1), "completion", nil, false),
      "wrapped": (.values(1), "completion", nil, true),
      "save": (.error, "completion", nil, true),
      "fetch": (.successOrFailure(["String"]), "success", "failure", true),
      "flag": (.presentValuesOrError(["Bool"]), "completion", nil, true),
    ]

    private func calls(_ tokens: SourceTokens) -> [AwaitedCall] {
      tokens.items.indices.compactMap { index in
        guard let callee = Self.forms[tokens[index]], tokens[index - 1] != "func",
          let site = CallSite(name: index, in: tokens, label: callee.label, failureLabel: callee.failure)
        else { return nil }
        return AwaitedCall(
          site: site,
          form: callee.form,
          name: tokens[index],
          omitted: [callee.label, callee.failure].compactMap(\.self),
          canThrow: callee.canThrow
        )
      }
    }

    private func written(_ body: String, _ own: ResultForm?, _ parameters: [String]) throws -> String {
      let tokens = SourceTokens("func f(id: Int) async {\n\(body)\n}")
      let brace = try #require(tokens.items.indices.first { tokens[$0] == "{" })
      let callback = own.map {
        OwnCallback(
          name: parameters[0],
          failureName: parameters.count > 1 ? parameters[1] : nil,
          form: $0,
          function: 1
        )
      }
      let text = AsyncText(tokens, calls(tokens), own: callback)
      if own != nil {
        let range = brace...(try #require(tokens.partner(brace)))
        if let refusal = CompletionPaths(text: text).refusal(in: range) { return "refused: \(refusal)" }
      }
      do {
        let new = try text.text(tokens.content(of: brace))
        let text = new.split(separator: "\n").map(\.trimmed).joined(separator: "\n")
        return text
      } catch {
        return "refused: \(error.reason)"
      }
    }

    /// The text of code that is async already.
    private func ready(_ body: String) throws -> String { try written(body, nil, []) }

    /// The text of a function with a callback.
    private func function(
      _ body: String,
      _ form: ResultForm = .result(value: "String", failure: "any Error"),
      _ parameters: [String] = ["completion"]
    ) throws -> String { try written(body, form, parameters) }

    private static let binding = """
      let result: Result<String, any Error>
      do { result = .success(try await load(id: 1)) } catch { result = .failure(error) }

      """

    // MARK: Async code

    @Test("a result that does not divide is made from the outcome of the await")
    func wholeResult() throws {
      #expect(try ready("load(id: 1) { result in\nshow(result)\n}") == Self.binding + "show(result)")
      let conditions = "switch result {\ncase .success(let x) where x.isEmpty: a()\ndefault: b()\n}"
      #expect(try ready("load(id: 1) { result in\n\(conditions)\n}") == Self.binding + conditions)
      let typed = "load { (r: Result<User, Error>) in\nshow(r)\n}"
      #expect(
        try ready(typed)
          == "let r: Result<User, Error>\ndo { r = .success(try await load()) } catch { r = .failure(error) }\nshow(r)"
      )
      #expect(try ready("load(id: 1) { show($0) }") == Self.binding + "show(result)")
      #expect(try ready("load(id: 1) { _ in show() }") == "_ = try? await load(id: 1)\nshow()")
    }

    @Test("a result that divides becomes the code after the await, and a catch")
    func dividedResult() throws {
      let both = "load(id: 1) { r in\nswitch r {\ncase .failure(let e): fail(e)\ncase .success(let x): show(x)\n}\n}"
      let expected = "do {\nlet x = try await load(id: 1)\nshow(x)\n} catch let e {\nfail(e)\n}"
      #expect(try ready(both) == expected)
      let guarded = "load(id: 1) { r in\nguard case .success(let x) = r else {\nfail()\nreturn\n}\nshow(x)\n}"
      #expect(try ready(guarded) == "do {\nlet x = try await load(id: 1)\nshow(x)\n} catch {\nfail()\n}")
      let outer = "load(id: 1) { r in\nif case .success(let x) = r { show(x) } else { fail(error) }\n}"
      #expect(try ready(outer) == "do {\nlet x = try await load(id: 1)\nshow(x)\n} catch _ {\nfail(error)\n}")
    }

    @Test("an await stands where the result threw")
    func getInDo() throws {
      #expect(
        try ready("load { r in\ndo {\nlet x = try r.get()\nshow(try decode(x))\n} catch {\nfail(error)\n}\n}")
          == "do {\nlet x = try await load()\nshow(try decode(x))\n} catch {\nfail(error)\n}"
      )
      let late = "load(id: 1) { result in\ndo {\nlog()\nshow(try result.get())\n} catch { fail() }\n}"
      #expect(try ready(late) == Self.binding + "do {\nlog()\nshow(try result.get())\n} catch { fail() }")
    }

    @Test("an optional value and an error divide by their conditions")
    func dividedPairs() throws {
      func text(_ success: String, _ failure: String, _ head: String = "let data", _ end: String = "catch") -> String {
        "do {\n\(head) = try await pair()\n\(success)\n} \(end) {\n\(failure)\n}"
      }
      let guardValue = "pair { data, error in\nguard let data, error == nil else {\nfail()\nreturn\n}\nshow(data)\n}"
      #expect(try ready(guardValue) == text("show(data)", "fail()"))
      let ifError = "pair { data, error in\nif let error {\nfail(error)\nreturn\n}\nshow(data!)\n}"
      #expect(try ready(ifError) == text("show(data)", "fail(error)"))
      let elseIf = "pair { d, e in\nif let e { fail(e) } else if let d { show(d) }\n}"
      #expect(try ready(elseIf) == text("show(d)", "fail(e)", "let d", "catch let e"))
      let two = "response { d, r, e in\nguard let d = d, let r = r else {\nfail()\nreturn\n}\nshow(d, r)\n}"
      #expect(
        try ready(two) == "do {\nlet (d, r) = try await response()\nshow(d, r)\n} catch {\nfail()\n}"
      )
    }

    @Test("an optional value and an error that do not divide are made from the outcome of the await")
    func wholePairs() throws {
      #expect(try ready("pair { d, _ in show(d ?? none) }") == "let d = try? await pair()\nshow(d ?? none)")
      let both = "pair { data, error in\nshow(data, error)\n}"
      #expect(
        try ready(both)
          == "let data: Data?\nlet error: (any Error)?\ndo {\ndata = try await pair()\nerror = nil\n} catch let thrown {\ndata = nil\nerror = thrown\n}\nshow(data, error)"
      )
      #expect(
        try ready("save { e in log(e) }")
          == "let e: (any Error)?\ndo {\ntry await save()\ne = nil\n} catch let thrown {\ne = thrown\n}\nlog(e)"
      )
      #expect(try ready("flag { ok, error in log(ok, error) }").hasPrefix("refused: its callback gets values beside"))
    }

    @Test("a throwing counterpart of a callback without an error leaves the code out where the callback did not come")
    func values() throws {
      #expect(try ready("count { n in show(n) }") == "let n = await count()\nshow(n)")
      #expect(
        try ready("wrapped { show($0) }")
          == "do {\nlet value = try await wrapped()\nshow(value)\n} catch {\n// The callback did not come.\n}"
      )
    }

    @Test(
      "two closures become the code after the await, and a catch",
      arguments: [
        "fetch(success: { x in show(x) }, failure: { e in fail(e) })",
        "fetch { x in show(x) } failure: { e in fail(e) }",
        "fetch(success: { x in show(x) }) { e in fail(e) }",
      ]
    )
    func twoClosures(_ call: String) throws {
      #expect(try ready(call) == "do {\nlet x = try await fetch()\nshow(x)\n} catch let e {\nfail(e)\n}")
    }

    @Test("nested calls are awaited in each other")
    func nested() throws {
      let inner = "count { n in\nshow(x, n)\n}"
      let text = "load { r in\nswitch r {\ncase .success(let x): \(inner)\ncase .failure: fail()\n}\n}"
      #expect(
        try ready(text)
          == "do {\nlet x = try await load()\nlet n = await count()\nshow(x, n)\n} catch {\nfail()\n}"
      )
    }

    @Test("names that mean something else near the call get a block of their own")
    func collisions() throws {
      #expect(
        try ready("let n = 1\nshow(n)\ncount { n in show(n) }")
          == "let n = 1\nshow(n)\ndo {\nlet n = await count()\nshow(n)\n}"
      )
    }

    @Test("an early return stays where nothing follows, and is refused otherwise")
    func earlyReturns() throws {
      #expect(
        try ready("count { n in\nif n > 1 { return }\nshow(n)\n}")
          == "let n = await count()\nif n > 1 { return }\nshow(n)"
      )
      #expect(
        try ready("count { n in\nif n > 1 { return }\nshow(n)\n}\nlog()").hasPrefix("refused: the `return` on line 3")
      )
      #expect(
        try ready("for x in y { count { n in\nif n > 1 { return }\nshow(n)\n} }").hasPrefix("refused: the `return`")
      )
    }

    @Test("a weak self is the object, where that is allowed")
    func weakSelf() throws {
      #expect(
        try ready("count { [weak self] n in\nguard let self else { return }\nself.show(n)\n}")
          == "let n = await count()\nself.show(n)"
      )
      #expect(try ready("count { [weak self] n in self?.show(n) }") == "let n = await count()\nself.show(n)")
    }

    // MARK: Functions with a callback

    @Test("a failure that is only passed on leaves the function")
    func passedFailures() throws {
      let text = "let x = try await load()\nreturn x + x"
      let cases = "case .success(let x): completion(.success(x + x))\ncase .failure(let e): completion(.failure(e))"
      #expect(try function("load { r in\nswitch r {\n\(cases)\n}\n}") == text)
      let data = "guard let data else { completion(nil, error); return }\ncompletion(data.count, nil)"
      let pairText = "let data = try await pair()\nreturn data.count"
      #expect(try function("pair { data, error in\n\(data)\n}", .valuesOrError(["Int"])) == pairText)
      let ifError = "if let error { return completion(.failure(error)) }\ncompletion(.success(data!))"
      #expect(
        try function("pair { data, error in\n\(ifError)\n}")
          == "let data = try await pair()\nreturn data"
      )
    }

    @Test("the catch of a `do` that only passes its error on is gone")
    func decoding() throws {
      let decode = "do {\nlet x = try decode(data)\ncompletion(.success(x))\n} catch {\ncompletion(.failure(error))\n}"
      let failure = "case .failure(let error): completion(.failure(error))"
      #expect(
        try function("load { result in\nswitch result {\ncase .success(let data):\n\(decode)\n\(failure)\n}\n}")
          == "let data = try await load()\nlet x = try decode(data)\nreturn x"
      )
    }

    @Test("a failure that a catch would get instead of the callback is refused or kept apart")
    func caughtFailures() throws {
      // The callback gets `Invalid`, and the catch must not wrap it.
      let cases =
        "case .success(let x):\nguard x.isValid else { return completion(.failure(Invalid())) }\ncompletion(.success(x))"
      let wrapped = "case .failure(let e): completion(.failure(Wrapped(e)))"
      let text = try function("load(id: 1) { result in\nswitch result {\n\(cases)\n\(wrapped)\n}\n}")
      #expect(text.hasPrefix(Self.binding + "switch result {") && text.contains("throw Wrapped(e)"))
      let body =
        "do {\nlet r = try make()\nload(r) { x in completion(x) }\n} catch { completion(.failure(Wrapped(error))) }"
      #expect(try function(body).hasPrefix("refused: the `catch` of a `do` around line 4"))
      let passing = body.replacing("Wrapped(error)", with: "error")
      #expect(
        try function(passing) == "let r = try make()\nreturn try await load(r)"
      )
    }

    @Test("a callback that is passed on is the result of the function")
    func passedOn() throws {
      #expect(try function("load(id: 1, completion: completion)") == "return try await load(id: 1)")
      #expect(try function("load(id: 1) { r in completion(r) }") == "return try await load(id: 1)")
      #expect(try function("load(id: 1) { completion($0) }") == "return try await load(id: 1)")
      #expect(
        try function("load { r in completion(r.map { $0.name }) }").hasSuffix("return try r.map { $0.name }.get()")
      )
      let helper =
        "pair { data, error in\nguard let data else { return completion(.failure(error!)) }\nload(data, completion: completion)\n}"
      #expect(try function(helper) == "let data = try await pair()\nreturn try await load(data)")
      #expect(
        try function(
          "fetch(success: success, failure: failure)",
          .successOrFailure(["String"]),
          ["success", "failure"]
        )
          == "return try await fetch()"
      )
    }

    @Test("the forms of a callback become a return or a throw")
    func completions() throws {
      let count = "count { n in\n"
      #expect(
        try function(count + "completion(n, nil)\n}", .valuesOrError(["Int"])) == "let n = await count()\nreturn n"
      )
      #expect(
        try function(count + "if n > 1 { completion(nil) } else { completion(Bad()) }\n}", .error)
          == "let n = await count()\nif n > 1 { return } else { throw Bad() }"
      )
      #expect(try function(count + "completion(n, 2)\n}", .values(2)) == "let n = await count()\nreturn (n, 2)")
      #expect(
        try function(count + "completion?(.failure(.bad))\n}", .result(value: "Int", failure: "Store.Failure"))
          == "let _ = 0".replacing("let _ = 0", with: "_ = await count()\nthrow Store.Failure.bad")
      )
      #expect(
        try function(count + "completion(nil, nil)\n}", .valuesOrError(["Int"])).hasPrefix(
          "refused: line 3 calls its callback with neither"
        )
      )
      #expect(
        try function(count + "completion(.success(()))\n}", .result(value: "Void", failure: "any Error"))
          == "_ = await count()\nreturn"
      )
    }

    @Test("three levels become three lines")
    func levels() throws {
      func level(_ call: String, _ name: String, _ inner: String) -> String {
        "\(call) { result in\nswitch result {\ncase .success(let \(name)):\n\(inner)\ncase .failure(let e):\ncompletion(.failure(e))\n}\n}"
      }
      let text = level("load(id: 1)", "a", level("load(a)", "b", level("load(b)", "c", "completion(.success(c))")))
      #expect(
        try function(text)
          == "let a = try await load(id: 1)\nlet b = try await load(a)\nlet c = try await load(b)\nreturn c"
      )
    }

    @Test(
      "a path without the callback is refused",
      arguments: [
        "load { r in\nif case .success(let x) = r { completion(.success(x)) }\n}",
        "load { r in\nguard case .success(let x) = r else { return }\ncompletion(.success(x))\n}",
        "pair { data, error in\nif let error { completion(.failure(error)) }\nelse if data == nil { completion(.success(1)) }\n}",
        "count { n in\nif n > 1 { completion(.success(n)) }\n}",
        "count { n in\nfor x in n { completion(.success(x)) }\n}",
        "if a { count { n in completion(.success(n)) } }",
      ]
    )
    func paths(_ body: String) throws {
      let text = try function(body)
      #expect(text.hasPrefix("refused: ") && text.contains("without calling its callback"), "\(text)")
    }
  }
#endif
