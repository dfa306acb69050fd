// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  @testable import CallbackMigration

  extension WrapperShape {
    private static func save(_ body: String) -> String {
      "func save(id: Int, completion: @escaping @Sendable ((any Error)?) -> Void) {\n\(body)\n}"
    }

    private static let constants = "\nprivate let base = \"https://example.com\"\nprivate let path = \"all\""

    private static func shape(
      _ name: String,
      _ body: String,
      after declarations: String = "",
      allowed: Set<CallRisk> = [],
      becomes: String
    ) -> Self {
      let source = save(body) + declarations
      return WrapperShape(name, source, "func save(id: Int) async throws", allowed: allowed, becomes: becomes)
    }

    private static func reads(_ name: String) -> String {
      "left: line 2 reads `\(name)` before it returns, and a wrapper reads it later; pass it as a parameter [order]"
    }

    private static let hop = "{ e in DispatchQueue.main.async { completion(e) } }"
    private static let wrapper = "Future { try await self.save(id: id) }.forward(on: .main, to: completion)"

    static let state = [
      shape("state in an argument", "api.upload(text) \(hop)", becomes: reads("text")),
      shape("state of `self` in an argument", "api.upload(self.text) \(hop)", becomes: reads("text")),
      shape("state in a string", #"api.upload("\(text)") \#(hop)"#, becomes: reads("text")),
      shape(
        "state in a string in a string",
        #"api.upload("\(id > 0 ? "\(text)" : "")") \#(hop)"#,
        becomes: reads("text")
      ),
      shape(
        "constants in a string",
        #"api.upload("\(base)/users/\(self.path)/\(id)") \#(hop)"#,
        after: constants,
        becomes: wrapper
      ),
      shape(
        "state after a constant in a string",
        #"api.upload("\(base)/\(text)") \#(hop)"#,
        after: constants,
        becomes: reads("text")
      ),
      shape(
        "a member of a constant in a string",
        #"api.upload("\(base.text)") \#(hop)"#,
        after: constants,
        becomes: reads("base")
      ),
      shape(
        "a loop variable in a string",
        #"for x in 0..<id { let text = "\(x)"; assert(text != "") }; api.upload(id) \#(hop)"#,
        becomes: wrapper
      ),
      shape(
        "state in a choice",
        "api.upload(isOpen ? id : 0) \(hop)",
        becomes: reads("isOpen")
      ),
      shape("state in a variable", "let old = text.count\napi.upload(old) \(hop)", becomes: reads("text")),
      shape(
        "state, with the change of meaning accepted",
        "api.upload(text) \(hop)",
        allowed: [.order],
        becomes: "Future.immediate { try await self.save(id: id) }.forward(on: .main, to: completion)"
      ),
      shape("parameters, and the object that works", "self.api.upload(id, \"\\(id)\") \(hop)", becomes: wrapper),
      shape(
        "local variables",
        "let old = id + 1\nfor x in 0..<old { assert(x > 0) }\napi.upload(old) \(hop)",
        becomes: wrapper
      ),
      shape(
        "a local type",
        "struct Body: Encodable { let id: Int }\napi.upload(Body(id: id)) \(hop)",
        becomes: wrapper
      ),
      shape(
        "a local function",
        "func name(_ user: Int) -> String { \"a\" }\napi.upload(name(id)) \(hop)",
        becomes: wrapper
      ),
      shape(
        "state in a closure",
        "api.upload(id) { e in DispatchQueue.main.async { print(text); completion(e) } }",
        becomes: wrapper
      ),
    ]
  }
#endif
