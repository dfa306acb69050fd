import Shapes
import Testing

/// The counterparts of functions whose callback does not escape.
@Suite("A synchronous counterpart does the same as its callback")
struct SynchronousTests {
  /// The first outcome of a callback.
  private func first(_ call: ((String) -> Void) throws -> Void) -> String {
    var texts: [String] = []
    do { try call { texts.append($0) } } catch { texts.append("\(error)") }
    return texts.first ?? "nothing"
  }

  private func outcome(_ call: () throws -> Any) -> String {
    do { return "\(try call())" } catch { return "\(error)" }
  }

  private func text(_ value: Any?, _ error: (any Error)?) -> String { "\(error ?? value ?? "neither")" }

  private func text(_ result: Result<Int, some Error>) -> String { outcome { try result.get() } }

  @Test("It returns or throws the first outcome", arguments: [Answer.value, .failure, .twice])
  func sameOutcome(_ answer: Answer) {
    let reader = Reader(answer)
    #expect(outcome { try reader.number() } == first { tell in reader.number { tell(text($0)) } })
    #expect(outcome { try reader.typed() } == first { tell in reader.typed { tell(text($0)) } })
    #expect(outcome { try reader.generic(5) } == first { tell in reader.generic(5) { tell(text($0, $1)) } })
    #expect(
      outcome { try reader.pair() as Any }
        == first { tell in
          reader.pair { value, name, error in tell(text(value.map { (number: $0, name: name!) }, error)) }
        }
    )
    #expect(
      outcome { try reader.parted().number }
        == first { tell in reader.parted(success: { tell("\($0.number)") }, failure: { tell("\($0)") }) }
    )
    #expect(outcome { try reader.save() } == first { tell in try reader.save { tell(text((), $0)) } })
    #expect(outcome { try reader.tuple() } == first { tell in reader.tuple { tell(text($0.0, $0.1)) } })
    #expect((outcome { try reader.cases() } == "1") == (answer != .failure))
  }

  @Test("An optional value is the first one, although it is nil")
  func optionalValue() { #expect(Reader(.twice).maybe() == nil) }

  @Test("What the function throws comes before its callback")
  func throwing() { #expect(throws: ReadingError.unreadable) { try Reader(.nothing).save() } }

  @Test("A typed callback throws its type")
  func typedError() {
    do throws(ReadingError) { _ = try Reader(.failure).typed() } catch {
      let typed: ReadingError = error
      #expect(typed == .unreadable)
    }
  }

  @Test("It changes what the function changes, and runs where it does")
  func isolationAndMutation() async throws {
    var reader = Reader(.value)
    var total = 1
    #expect(reader.increase(&total, by: { 2 }) == 2)
    #expect((reader.count, total) == (2, 3))
    #expect(reader.value() == 1)
    Reader.zero()
    #expect(try await Register().number() == 3)
    #expect(await MainActor.run { Board().sample().number } == 4)
  }

  @Test("It traps where the callback does not come, or has nothing", arguments: [false, true])
  func missingCallback(_ isPair: Bool) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isPair] in
      if isPair { _ = try Reader(.nothing).generic(1) } else { _ = try Reader(.nothing).number() }
    }
    #if DEBUG
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      let sentence =
        isPair ? "generic(_:completion:) gave neither a value nor an error." : "number(_:) returned without calling its"
      #expect(text.contains(sentence), "\(text)")
    #else
      _ = result
    #endif
  }
}

extension Register {
  fileprivate func number() throws -> Int { try sample().number }
}
