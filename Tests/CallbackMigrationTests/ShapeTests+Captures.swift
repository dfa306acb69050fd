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
      ConvertedShape(
        "a closure that stays in a weak callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            self?.ticker = Ticker { self?.tick() }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { [weak self] in self?.tick() }
          return n
          """
      ),
      ConvertedShape(
        "closures with heads that stay in a weak callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            self?.ticker = Ticker { [n] time in
              guard let self else { return }
              self.tick(time, n)
            }
            self?.timer = Timer { @Sendable time in self?.tick(time, n) }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { [weak self, n] time in
          guard let self else { return }
          self.tick(time, n)
          }
          self.timer = Timer { @Sendable [weak self] time in self?.tick(time, n) }
          return n
          """
      ),
      ConvertedShape(
        "a closure that gets its weak object from another closure",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            self?.ticker = Ticker { after(n) { print(self?.name) } }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { [weak self] in after(n) { print(self?.name) } }
          return n
          """
      ),
      ConvertedShape(
        "a closure after a guard of self in a weak callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            guard let self else { return }
            self.ticker = Ticker { self.tick() }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { self.tick() }
          return n
          """
      ),
      ConvertedShape(
        "a local function in a weak callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            func tick() { self?.tick() }
            self?.ticker = Ticker(tick)
            completion(n)
          }
        }
        """,
        becomes: "left: the function on line 3 uses a weak `self`; make it a closure with its own `[weak self]`"
      ),
      ConvertedShape(
        "a closure that passes its weak object on",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [weak self] n in
            self?.ticker = Ticker { tick(self) }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { [weak self] in tick(self) }
          return n
          """
      ),
      ConvertedShape(
        "a switch that gives a value in a weak callback",
        """
        func f(completion: @escaping (String?) -> Void) {
          api.count { [weak self] n in
            let text: String? = switch n {
            case 0: self?.name
            default: nil
            }
            completion(text)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          let text: String? = switch n {
          case 0: self.name
          default: nil
          }
          return text
          """
      ),
      ConvertedShape(
        "an if that gives a value in a weak callback",
        """
        func f(completion: @escaping (String?) -> Void) {
          api.count { [weak self] n in
            let text: String? = if n > 0 { self?.name } else { nil }
            self?.ticker = Ticker { if n > 0 { self?.tick() } }
            completion(text)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          let text: String? = if n > 0 { self.name } else { nil }
          self.ticker = Ticker { [weak self] in if n > 0 { self?.tick() } }
          return text
          """
      ),
      ConvertedShape(
        "an if that gives an optional type in a weak callback",
        """
        func f(completion: @escaping (String?) -> Void) {
          api.count { [weak self] n in
            let text = if n > 0 { other } else { self?.name }
            completion(text)
          }
        }
        """,
        becomes: "left: line 3 has an optional value of `self?`, and `self` gives another type"
      ),
      ConvertedShape(
        "closures that stay in an unowned callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [unowned self] n in
            self.ticker = Ticker { self.tick() }
            self.timer = Timer { [n] time in self.tick(time, n) }
            completion(n)
          }
        }
        """,
        becomes: """
          let n = await api.count()
          self.ticker = Ticker { [unowned self] in self.tick() }
          self.timer = Timer { [unowned self, n] time in self.tick(time, n) }
          return n
          """
      ),
      ConvertedShape(
        "a local function in an unowned callback",
        """
        func f(completion: @escaping (Int) -> Void) {
          api.count { [unowned self] n in
            func tick() { self.tick() }
            self.ticker = Ticker(tick)
            completion(n)
          }
        }
        """,
        becomes: "left: the function on line 3 uses an unowned `self`; make it a closure with its own `[unowned self]`"
      ),
    ]
  }
#endif
