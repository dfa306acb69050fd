#if DEBUG
  extension ShapeTests {
    /// Callbacks whose captures and whose `$0` must keep their meaning.
    static let captures: [ConvertedShape] = [
      ConvertedShape(
        "a dollar sign in a string",
        #"""
        func f(completion: @escaping (String) -> Void) {
          api.count { completion($0 == 0 ? "$0.00" : "$\($0).00") }
        }
        """#,
        becomes: #"""
          let value = await api.count()
          return value == 0 ? "$0.00" : "$\(value).00"
          """#
      ),
      ConvertedShape(
        "dollar signs in all kinds of strings",
        ##"""
        func f() async {
          api.extent { print("$10 \($0)×\($1)", #"\($0) \#($1)"#, "\(all.map { $0 + 1 }) \\($0) \(name("\($1)"))") }
        }
        """##,
        becomes: ##"""
          let (value1, value2) = await api.extent()
          print("$10 \(value1)×\(value2)", #"\($0) \#(value2)"#, "\(all.map { $0 + 1 }) \\($0) \(name("\(value2)"))")
          """##
      ),
      ConvertedShape(
        "a value that the closure for a failure captures",
        """
        func f() async {
          api.fetch(path: "a", success: { text in show(text) }, failure: { [name] error in fail(name, error) })
        }
        """,
        becomes: "left: its callback captures `name` in a list, which an await has not"
      ),
    ]
  }
#endif
