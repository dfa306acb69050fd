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
    ]
  }
#endif
