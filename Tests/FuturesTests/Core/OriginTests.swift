#if DEBUG
  @testable import Futures
  import Testing

  /// Tests of a state's origin: an await finds its task by the origin, and a broken promise its label.
  struct OriginTests {
    @Test("A pending derived state names its source; a resolved one names none, because its source can be gone")
    func ofDerivedState() throws {
      var promise: Promise<Int, any Error>? = Promise("source")
      let derived = try #require(promise?.future.map { $0 + 1 })
      let state = try #require(derived.state)
      guard let derivation = state.origin.derivation else {
        Issue.record("a pending derived state has no source")
        return
      }
      #expect(derivation.stage === state)
      #expect(derivation.source === promise?.state)
      #expect(state.nearestLabel?.text == "source")
      promise?.succeed(1)
      promise = nil
      guard state.origin.derivation == nil else {
        Issue.record("a resolved state names a source, which nothing keeps alive")
        return
      }
      #expect(!state.dependsOnTasks)
      #expect(state.nearestLabel == nil)
    }
  }
#endif
