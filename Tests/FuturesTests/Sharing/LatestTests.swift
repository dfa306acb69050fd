import Futures
import FuturesTesting
import TestSupport
import Testing

/// A search field whose server the test controls.
private final class Field: Sendable {
  let screen = ManualContext()
  let shown = Recorder<String>()
  let bar = Recorder<Double>()
  let cancelled = Recorder<String>()
  let asked = Recorder<String>()
  private let answers = PendingPromises<String, String, any Error>()
  let latest: Latest

  init() { latest = Latest(timer: screen.context) }

  func type(_ text: String) {
    latest.run(after: .milliseconds(200), on: screen.context) { [asked, answers, cancelled] in
      asked.record(text)
      let answer = answers.future(for: text)
      return Future<String, any Error> { promise in
        promise.onCancel { cancelled.record(text) }
        promise.progress.report(fraction: 0.5)
        promise.follow(answer)
      }
    } whenProgressed: { [bar] progress in
      bar.record(progress.fractionCompleted)
    } whenResolved: { [shown] result in
      shown.record((try? result.get()) ?? "failed")
    }
  }

  func answer(_ text: String) { answers.resolve(text, with: .success("\(text)!")) }
}

@Suite("The latest request")
struct LatestTests {
  @Test("A burst of requests starts the last one only, after its delay")
  func debounce() {
    let field = Field()
    for text in ["a", "ab", "abc"] {
      field.type(text)
      field.screen.advance(by: .milliseconds(199))
    }
    #expect(field.asked.events == [])
    #expect(field.latest.isRunning)
    field.screen.advance(by: .milliseconds(1))
    #expect(field.asked.events == ["abc"])
    field.answer("abc")
    field.screen.runAll()
    #expect(field.shown.events == ["abc!"])
    #expect(!field.latest.isRunning)
  }

  @Test(
    "Steady input: `atMost` starts the newest after a maximum wait, `leading` the first at once, and both keep a pace"
  )
  func pace() {
    let table: [(atMost: Duration?, leading: Bool, started: [Int])] = [
      (nil, false, [12]), (nil, true, [0, 12]), (.milliseconds(200), false, [3, 7, 11, 12]),
      (.milliseconds(100), true, [0, 2, 4, 6, 8, 10, 12]),
    ]
    for (atMost, leading, started) in table {
      let screen = ManualContext()
      let latest = Latest(timer: screen.context)
      let log = Recorder<Int>()
      func call(_ number: Int) {
        latest.run(after: .milliseconds(100), atMost: atMost, leading: leading, on: screen.context) {
          log.record(number)
          return Future<Int, any Error>.succeeded(number)
        } whenResolved: { _ in
        }
      }
      for number in 0...12 {
        call(number)
        screen.advance(by: .milliseconds(50))
      }
      screen.advance(by: .seconds(1))
      #expect(log.events == started, "at most \(String(describing: atMost)), leading: \(leading)")
      // After a pause the first call of a burst is the first again, and nothing is left.
      call(13)
      screen.runAll()
      #expect(log.events.last == (leading ? 13 : 12))
      latest.cancel()
      #expect(screen.pendingCount == 0)
    }
  }

  @Test("A new request cancels the work of the one before, whose callbacks do not run")
  func supersede() {
    let field = Field()
    field.type("a")
    field.screen.advance(by: .seconds(1))
    field.type("b")
    #expect(field.cancelled.events == ["a"])
    field.screen.advance(by: .seconds(1))
    field.answer("a")
    field.answer("b")
    field.screen.runAll()
    #expect(field.shown.events == ["b!"])
  }

  @Test("R17a: an answer that is queued for the screen when a new request starts, or `cancel` is called, is not shown")
  func queuedAnswer() {
    for cancels in [false, true] {
      let field = Field()
      field.type("a")
      field.screen.advance(by: .seconds(1))
      field.answer("a")
      #expect(field.screen.pendingCount > 0)
      if cancels { field.latest.cancel() } else { field.type("b") }
      field.screen.runAll()
      #expect(field.shown.events == [])
      #expect(field.latest.isRunning == !cancels)
    }
  }

  @Test("R19: the newest request reports the progress of its work, without a share for the delay")
  func progress() {
    let field = Field()
    field.type("a")
    field.screen.advance(by: .seconds(1))
    #expect(field.bar.events.last == 0.5)
    field.answer("a")
    field.screen.runAll()
    #expect(field.bar.events.last == 1)
    #expect(field.bar.events == field.bar.events.sorted())
  }

  @Test("A failure of the newest request is delivered")
  func failure() {
    let screen = ManualContext()
    let latest = Latest(timer: screen.context)
    let results = Recorder<Result<Int, TestError>>()
    latest.run(on: screen.context) {
      Future<Int, TestError>.failed(TestError(1))
    } whenResolved: { result in
      results.record(result)
    }
    screen.runAll()
    #expect(results.events == [.failure(TestError(1))])
    #expect(!latest.isRunning)
  }

  @Test("R5: when it goes away it cancels its request, and releases the closures")
  func deinitialisation() {
    let screen = ManualContext()
    let (captured, _) = withTracked(Recorder<Int>()) { captured in
      let latest = Latest(timer: screen.context)
      latest.run(after: .seconds(1), on: screen.context) {
        Future<Int, any Error>.succeeded(1)
      } whenResolved: { [captured] _ in
        captured.record(1)
      }
      #expect(screen.pendingCount == 1)
    }
    #expect(captured.isReleased)
    #expect(screen.pendingCount == 0)
  }

  @Test("A callback can start the next request")
  func reentrancy() {
    let screen = ManualContext()
    let latest = Latest(timer: screen.context)
    let results = Recorder<Int>()
    @Sendable func start(_ number: Int) {
      latest.run(on: screen.context) {
        Future<Int, Never>.succeeded(number)
      } whenResolved: { result in
        results.record(result.get())
        if number < 3 { start(number + 1) }
      }
    }
    start(1)
    screen.runAll()
    #expect(results.events == [1, 2, 3])
  }

  @Test("`on: .main` closures use the main actor's state, and deliver the newest result only")
  @MainActor func main() async {
    let latest = Latest()
    var shown: [Int] = []
    let done = Promise<Void, Never>()
    for number in 1...3 {
      latest.run(on: .main) {
        shown.append(0)  // on the main actor
        return Future<Int, Never>.succeeded(number)
      } whenResolved: { result in
        shown.append(result.get())
        done.succeed()
      }
    }
    await withCheckedContinuation { continuation in done.future.whenResolved(on: .main) { _ in continuation.resume() } }
    #expect(shown == [0, 3])
  }
}
