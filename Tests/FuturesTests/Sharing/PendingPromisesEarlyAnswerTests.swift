import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("Early answers of promises by key")
struct PendingPromisesEarlyAnswerTests {
  private typealias Answers = PendingPromises<Int, String, TestError>

  @Test("An answer that comes before its caller is kept, and handed out once, without a start")
  func keptForItsCaller() {
    let answers = Answers(keepingEarlyAnswers: 2)
    #expect(!answers.resolve(1, with: .success("a")))
    let starts = Recorder<Int>()
    #expect(answers.future(for: 1) { starts.record(1) }.peek() == .success("a"))
    #expect(starts.events.isEmpty)
    let second = answers.future(for: 1) { starts.record(2) }
    #expect(second.peek() == nil)
    #expect(starts.events == [2])
    #expect(answers.resolve(1, with: .failure(TestError(1))))
    #expect(second.peek() == .failure(TestError(1)))
  }

  @Test("Answers of a key are handed out in order, and the oldest of all is dropped above the limit, as in a list")
  func asAList() {
    var generator = SplitMix64(seed: 1)
    for limit in [0, 1, 2, 5] {
      let answers = PendingPromises<Int, String, CancellableTestError>(keepingEarlyAnswers: limit)
      var list: [(key: Int, answer: String)] = []
      for step in 0..<2_000 {
        let key = Int.random(in: 0..<3, using: &generator)
        if Bool.random(using: &generator) {
          answers.resolve(key, with: .success("\(step)"))
          list.append((key, "\(step)"))
          if list.count > limit { list.removeFirst() }
        } else {
          let index = list.firstIndex { $0.key == key }
          let expected = index.map { list.remove(at: $0).answer }
          let future = answers.future(for: key)
          if expected == nil { future.cancel() }
          guard (try? future.peek()?.get()) != expected else { continue }
          Issue.record("Step \(step) with the limit \(limit): \(future) instead of \(expected ?? "nothing").")
          return
        }
      }
    }
  }

  @Test("`failAll` drops early answers, and a dropped answer is released")
  func dropped() {
    let answers = PendingPromises<Int, LifetimeProbe, TestError>(keepingEarlyAnswers: 1)
    weak var first: LifetimeProbe?
    weak var second: LifetimeProbe?
    do {
      let probes = (LifetimeProbe(), LifetimeProbe())
      (first, second) = probes
      answers.resolve(1, with: .success(probes.0))
      answers.resolve(2, with: .success(probes.1))
    }
    #expect(first == nil)
    #expect(second != nil)
    answers.failAll(TestError(1))
    #expect(second == nil)
    #expect(answers.future(for: 2).peek() == nil)
  }

  @Test("One key needs no name")
  func singleKey() {
    let answers = PendingPromises<SingleKey, String, TestError>(keepingEarlyAnswers: 1)
    let futures = [answers.future(), answers.future()]
    #expect(answers.resolve(with: .success("a")))
    #expect(futures.map { $0.peek() } == [.success("a"), .success("a")])
    #expect(!answers.resolve(with: .success("b")))
    #expect(answers.future().peek() == .success("b"))
    let work = Promise<String, TestError>()
    let shared = [answers.shared { work.future }, answers.shared { .succeeded("never") }]
    work.succeed("c")
    #expect(shared.map { $0.peek() } == [.success("c"), .success("c")])
  }
}

private final class LifetimeProbe: Sendable {}
