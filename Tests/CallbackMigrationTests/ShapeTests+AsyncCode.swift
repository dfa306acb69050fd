#if DEBUG
  extension ShapeTests {
    /// Calls in code that is async already.
    static let asyncCode: [ConvertedShape] = [
      ConvertedShape(
        "returns a call whose text ends in the word",
        """
        func f() async {
          if isNew {
            return api.count { count in
              use(count) // and return
            }
          }
          rest()
        }
        """,
        becomes: """
          let count = await api.count()
          use(count) // and return
          return
          """
      ),
      ConvertedShape(
        "returns a call before other code",
        """
        func f() async {
          if isNew { return api.count { use($0) } }
          rest()
        }
        """,
        becomes: """
          let value = await api.count()
          use(value)
          return
          """
      ),
      ConvertedShape(
        "returns the last call",
        """
        func f() async {
          rest()
          return api.count { use($0) }
        }
        """,
        becomes: """
          let value = await api.count()
          use(value)
          """
      ),
      ConvertedShape(
        "a result is looked at",
        """
        func f() async {
          api.load(id: 1) { result in
            switch result {
            case .success(let text): show(text)
            case .failure(let error): fail(error)
            }
          }
        }
        """,
        becomes: """
          do {
            let text = try await api.load(id: 1)
            show(text)
          } catch {
            fail(error)
          }
          """
      ),
      ConvertedShape(
        "a result with a default case",
        """
        func f() async {
          api.load(id: 1) { result in
            switch result {
            case .success(let text): show(text)
            default: fail()
            }
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await api.load(id: 1)) } catch { result = .failure(error) }
          switch result {
            case .success(let text): show(text)
            default: fail()
          }
          """
      ),
      ConvertedShape(
        "a pair with both conditions",
        """
        func f() async {
          api.pair(from: url) { data, error in
            guard let data = data, error == nil else {
              fail(error)
              return
            }
            show(data)
          }
        }
        """,
        becomes: """
          let data: Data?
          let error: (any Error)?
          do {
            data = try await api.pair(from: url)
            error = nil
          } catch let thrown {
            data = nil
            error = thrown
          }
          do {
            guard let data = data, error == nil else {
              fail(error)
              return
            }
            show(data)
          }
          """
      ),
      ConvertedShape(
        "a statement for both outcomes",
        """
        func f() async {
          api.load(id: 1) { result in
            spinner.stop()
            switch result {
            case .success(let text): show(text)
            case .failure(let error): fail(error)
            }
          }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await api.load(id: 1)) } catch { result = .failure(error) }
          spinner.stop()
          switch result {
            case .success(let text): show(text)
            case .failure(let error): fail(error)
          }
          """
      ),
      ConvertedShape(
        "a result is ignored",
        """
        func f() async {
          api.remove(id: 1) { _ in reload() }
        }
        """,
        becomes: """
          _ = try? await api.remove(id: 1)
          reload()
          """
      ),
      ConvertedShape(
        "an error is ignored",
        """
        func f() async {
          api.pair(from: url) { data, _ in
            if let data { show(data) }
          }
        }
        """,
        becomes: """
          do {
            let data = try await api.pair(from: url)
            show(data)
          } catch {
            // The callback ignored the failure.
          }
          """
      ),
      ConvertedShape(
        "two closures in async code",
        """
        func f() async {
          api.fetch(path: "a", success: { show($0) }, failure: { fail($0) })
        }
        """,
        becomes: """
          do {
            let value = try await api.fetch(path: "a")
            show(value)
          } catch {
            fail(error)
          }
          """
      ),
      ConvertedShape(
        "two closures, failure first in the text",
        """
        func f() async {
          api.fetch(path: "a") { text in show(text) } failure: { _ in fail() }
        }
        """,
        becomes: """
          do {
            let text = try await api.fetch(path: "a")
            show(text)
          } catch {
            fail()
          }
          """
      ),
      ConvertedShape(
        "nested calls in async code",
        """
        func f() async {
          api.load(id: 1) { result in
            guard case .success(let text) = result else { return }
            api.pair(from: text) { data, error in
              if let error {
                fail(error)
                return
              }
              show(data!)
            }
          }
        }
        """,
        becomes: """
          do {
            let text = try await api.load(id: 1)
            do {
              let data = try await api.pair(from: text)
              show(data)
            } catch {
              fail(error)
            }
          } catch {
            // The callback ignored the failure.
          }
          """
      ),
      ConvertedShape(
        "a handle is kept",
        """
        func f() async {
          self.handle = api.download(id: 1) { result in show(result) }
        }
        """,
        becomes: "left: the code keeps or uses what the call returns, such as a handle that cancels"
      ),
      ConvertedShape(
        "a handle is ignored",
        """
        func f() async {
          _ = api.download(id: 1) { result in show(result) }
        }
        """,
        becomes: """
          let result: Result<String, any Error>
          do { result = .success(try await api.download(id: 1)) } catch { result = .failure(error) }
          show(result)
          """
      ),
      ConvertedShape(
        "a function as the callback",
        """
        func f() async {
          api.load(id: 1, completion: handle)
        }
        """,
        becomes: "left: its callback is not a closure at the call"
      ),
      ConvertedShape(
        "a call through an optional",
        """
        func f() async {
          api?.load(id: 1) { result in show(result) }
        }
        """,
        becomes: "left: it is made through an optional, and the code after an await would run without it"
      ),
      ConvertedShape(
        "a call in a task",
        """
        func f() {
          Task {
            api.load(id: 1) { result in
              if case .success(let text) = result { show(text) }
            }
          }
        }
        """,
        becomes: """
          do {
            let text = try await api.load(id: 1)
            show(text)
          } catch {
            // The callback ignored the failure.
          }
          """
      ),
      ConvertedShape(
        "a return in the callback before other code",
        """
        func f() async {
          if isReady {
            api.count { count in
              if count == 0 { return }
              show(count)
            }
          } else {
            log("not ready")
          }
        }
        """,
        becomes: """
          let count = await api.count()
          if count == 0 { return }
          show(count)
          """
      ),
    ]
  }
#endif
