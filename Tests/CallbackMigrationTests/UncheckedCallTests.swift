// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("Calls that only the compiler knows") struct UncheckedCallTests {
    @Test("a compiler's text that awaits more calls than the tool has checked is refused")
    func uncheckedAwait() throws {
      let tokens = SourceTokens("store.load { n in dep.ping { m in a(m) }; b(n) }")
      let site = try #require(CallSite(name: 2, in: tokens, label: "completion"))
      let answer = "let n = await store.load()\nlet m = await dep.ping()\na(m)\nb(n)\n\(Refactoring.mark)"
      func reason(_ count: Int) -> String? {
        do {
          _ = try ConvertedText(answer, of: site, in: tokens, ignoresFailure: false, awaiting: count)
          return nil
        } catch {
          return error.reason
        }
      }
      #expect(reason(1) == "the compiler's text awaits a call that the tool has not checked")
      #expect(reason(2) == nil)
    }
  }
#endif
