#if DEBUG
  extension ShapeTests {
    /// Calls with more than one closure, where the tool must not mistake or lose a closure.
    static let handlers: [ConvertedShape] = [
      ConvertedShape(
        "a member as the closure for a failure",
        """
        func f() async {
          api.fetch(path: "a", success: { text in show(text) }, failure: self.showError)
        }
        """,
        becomes: "left: line 2: its closure for a failure is not written at the call; write it there"
      ),
      ConvertedShape(
        "an optional closure for a failure",
        """
        func f() async {
          api.fetch(path: "a", success: { text in show(text) }, failure: onError ?? { _ in })
        }
        """,
        becomes: "left: line 2: its closure for a failure is not written at the call; write it there"
      ),
      ConvertedShape(
        "a call that makes the closure for a failure",
        """
        func f() async {
          api.fetch(path: "a", success: { text in show(text) }, failure: makeHandler())
        }
        """,
        becomes: "left: line 2: its closure for a failure is not written at the call; write it there"
      ),
      ConvertedShape(
        "a trailing closure for a failure after a member for success",
        """
        func f() async {
          api.fetch(path: "a", success: self.show) { _ in self.alert() }
        }
        """,
        becomes: "left: its callback is not a closure at the call"
      ),
      ConvertedShape(
        "a trailing closure for a failure after the own closure for success",
        """
        func f(success: @escaping (String) -> Void, failure: @escaping (any Error) -> Void) {
          api.fetch(path: "a", success: success) { error in failure(error) }
        }
        """,
        becomes: "left: line 2: its callback is not a closure at the call"
      ),
      ConvertedShape(
        "a trailing closure after the callback in the brackets",
        """
        func f() async {
          scale.measure(completion: { total in show(total) }) { part in draw(part) }
        }
        """,
        becomes: "left: line 2: the call has another trailing closure; write it in the brackets"
      ),
      ConvertedShape(
        "another closure in the brackets",
        """
        func f() async {
          scale.measure(completion: { total in show(total) }, progress: { part in draw(part) })
        }
        """,
        becomes: """
          let total = await scale.measure(progress: { part in draw(part) })
          show(total)
          """
      ),
      ConvertedShape(
        "two closures without labels",
        """
        func f() async {
          run({ try work() }, { done($0) })
        }
        """,
        becomes: """
          left: its callback has no label, and the closure can be that of another parameter; write the callback as a \
          trailing closure
          """
      ),
      ConvertedShape(
        "a trailing closure after a closure without a label",
        """
        func f() async {
          run({ try work() }) { done($0) }
        }
        """,
        becomes: """
          let value = await run({ try work() })
          done(value)
          """
      ),
      ConvertedShape(
        "a trailing closure of a parameter after the callback, without labels",
        """
        func f() async {
          trace({ done($0) }) { number in text(number) }
        }
        """,
        becomes: """
          left: its callback has no label, and the closure can be that of another parameter; write the callback as a \
          trailing closure
          """
      ),
      ConvertedShape(
        "a comma of generic arguments before a callback without a label",
        """
        func f(done: @escaping (Int) -> Void) {
          keep(Dictionary<String, Array<Int>>()) { done($0) }
        }
        """,
        becomes: """
          let value = await keep(Dictionary<String, Array<Int>>())
          return value
          """
      ),
      ConvertedShape(
        "a comma between comparisons before a closure without a label",
        """
        func f(done: @escaping (Int) -> Void) {
          keep(A < b, C > (d)) { done($0) }
        }
        """,
        becomes: "left: its callback has no label, and the closure can be that of another parameter"
          + "; write the callback as a trailing closure"
      ),
      ConvertedShape(
        "a trailing closure of another parameter",
        """
        func f(done: @escaping (Int) -> Void) {
          trace(done) { number in text(number) }
        }
        """,
        becomes: "left: its callback has no label, and the closure can be that of another parameter"
          + "; write the callback as a trailing closure"
      ),
    ]
  }
#endif
