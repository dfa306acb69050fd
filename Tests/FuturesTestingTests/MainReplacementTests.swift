import Futures
import FuturesAsync
import FuturesTesting
import Testing

@Suite("A manual context in the place of the main context")
@MainActor
struct MainReplacementTests {
  /// Code of the user, which names the main context.
  @MainActor private final class Screen {
    var shown: [String] = []

    func load(_ answer: Future<String, any Error>) {
      answer
        .timeout(after: .seconds(5), on: .main)
        .map(on: .main) { $0.uppercased() }
        .whenResolved(on: .main) { self.shown.append((try? $0.get()) ?? "failed") }
    }
  }

  @Test("Code that says `on: .main` runs when the test says so, with its timers")
  func runsWhenTheTestSays() {
    let (manual, screen) = (ManualContext(), Screen())
    manual.asMain {
      let answer = Promise<String, any Error>("answer")
      screen.load(answer.future)
      screen.load(.never)
      answer.succeed("news")
      #expect(screen.shown == [])
      manual.runAll()
      #expect(screen.shown == ["NEWS"])
      manual.advance(by: .seconds(4))
      #expect(screen.shown == ["NEWS"])
      manual.advance(by: .seconds(1))
      #expect(screen.shown == ["NEWS", "failed"])
    }
  }

  @TaskLocal static var name = ""

  @Test("Tasks of the test have it too, mainImmediate runs at once on the main actor, and its delays are virtual")
  func tasksAndImmediate() async throws {
    let (manual, screen, checkpoints) = (ManualContext(), Screen(), Checkpoints())
    try await manual.asMain {
      let task = Task { screen.load(.succeeded("task")) }
      await task.value
      #expect(manual.pendingCount > 0)
      manual.runAll()
      #expect(screen.shown == ["TASK"])
      Future<Int, Never>.succeeded(1).whenResolved(on: .mainImmediate) { _ in screen.shown.append("at once") }
      #expect(screen.shown == ["TASK", "at once"])
      try Task.checkCancellation()
      for context in [MainContext.mainImmediate, .main.carrying(Self.$name), .mainImmediate.carrying(Self.$name)] {
        Future.after(.seconds(1), on: context).whenResolved(on: .immediate) { _ in checkpoints.pass("late") }
      }
      manual.advance(by: .seconds(1))
      #expect(checkpoints.passed == ["late", "late", "late"])
    }
  }

  @Test("Outside of it, and after it, the main context is the main queue")
  func onlyInside() async {
    let manual = ManualContext()
    manual.asMain {}
    let checkpoints = Checkpoints()
    Future<Int, Never>.succeeded(1).whenResolved(on: .main) { _ in checkpoints.pass("main queue") }
    #expect(manual.pendingCount == 0)
    await checkpoints.passing("main queue").value
    #expect(checkpoints.passed == ["main queue"])
  }
}
