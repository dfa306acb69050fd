import Futures
import TestSupport
import Testing

/// Compares one key with a short model, in every order of the events.
@Suite("Promises by key, every order")
struct PendingPromisesModelTests {
  /// `leave` cancels the oldest caller; `finish` ends the newest work, or calls `failAll` if there is no shared work.
  enum Event: CaseIterable { case ask, leave, answer, finish, drop }

  enum End: Equatable { case pending, value(Int), failed, cancelled, broken }

  struct Run<Failure: Error> {
    let isShared: Bool
    let isTyped: Bool
    var pending: PendingPromises<String, Int, Failure>?
    let started = Recorder<Int>()
    let calledOff = Recorder<String>()
    let stopped = Recorder<Int>()
    let works = Recorder<Promise<Int, Failure>>()
    var futures: [Future<Int, Failure>] = []

    // The state that the contract expects.
    var ends: [End] = []
    /// The callers of the key that have not left, and those that have left but have no cancelled case to end with.
    var active: [Int] = []
    var left: [Int] = []
    /// The callers that have left, by the number of the stopped work that they followed.
    var followers: [Int: [Int]] = [:]
    var work: Int?
    var starts = 0
    var calls = 0
    var stops: [Int] = []
    var finished: Set<Int> = []

    init(isShared: Bool, isTyped: Bool) {
      (self.isShared, self.isTyped) = (isShared, isTyped)
      pending = PendingPromises { [calledOff] in calledOff.record($0) }
    }

    func ask(_ pending: PendingPromises<String, Int, Failure>) -> Future<Int, Failure> {
      guard isShared else { return pending.future(for: "a") { started.record(1) } }
      return pending.future(sharing: "a") {
        let (work, number) = (Promise<Int, Failure>(), works.events.count)
        work.onCancel { [stopped] in stopped.record(number) }
        works.record(work)
        started.record(1)
        return work.future
      }
    }

    mutating func end(_ end: End) {
      for caller in left + active { ends[caller] = end }
      (active, left, work) = ([], [], nil)
    }

    mutating func perform(_ event: Event, _ error: Failure) {
      switch event {
      case .ask:
        guard let pending else { return }
        if active.isEmpty {
          if isShared { work = starts }
          starts += 1
        }
        active.append(futures.count)
        ends.append(.pending)
        futures.append(ask(pending))
      case .leave:
        guard let caller = active.first else { return }
        futures[caller].cancel()
        active.removeFirst()
        if isTyped { left.append(caller) } else { ends[caller] = .cancelled }
        guard active.isEmpty else { return }
        calls += 1
        guard let work else { return }
        stops.append(work)
        followers[work] = left
        end(.pending)
      case .answer:
        guard let pending else { return }
        #expect(pending.resolve("a", with: .success(100)) == !(active + left).isEmpty)
        end(.value(100))
      case .finish where isShared:
        guard let promise = works.events.last else { return }
        let number = works.events.count - 1
        promise.succeed(number)
        guard finished.insert(number).inserted, isTyped || !stops.contains(number) else { return }
        if work == number { end(.value(number)) }
        for caller in followers[number] ?? [] { ends[caller] = .value(number) }
      case .finish:
        guard let pending else { return }
        pending.failAll(error)
        end(.failed)
      case .drop:
        pending = nil
        if let work { stops.append(work) }
        end(isTyped ? .pending : .broken)
      }
    }

    func end(of future: Future<Int, Failure>) -> End {
      switch future.peek() {
      case .success(let value)?: .value(value)
      case .failure(let error)?:
        error is CancellationError ? .cancelled : error is BrokenPromise ? .broken : .failed
      case nil: .pending
      }
    }

    /// The difference from the model; `nil` if there is none.
    var difference: String? {
      let now = futures.map { end(of: $0) }
      if now != ends { return "\(now) instead of \(ends)" }
      if started.events.count != starts { return "\(started.events.count) starts instead of \(starts)" }
      if calledOff.events.count != calls { return "\(calledOff.events.count) calls of onCancel instead of \(calls)" }
      if stopped.events.sorted() != stops.sorted() { return "stopped \(stopped.events) instead of \(stops)" }
      if let pending, pending.count != (active.isEmpty ? 0 : 1) { return "\(pending.count) keys for \(active)" }
      return nil
    }
  }

  func check<Failure: Error>(_ error: Failure, isShared: Bool, isTyped: Bool) {
    for sequence in CancellationTableTests.orders(of: Event.allCases + [.ask, .ask, .leave]) {
      var run = Run<Failure>(isShared: isShared, isTyped: isTyped)
      for event in sequence {
        run.perform(event, error)
        if let difference = run.difference {
          Issue.record("\(sequence), at \(event): \(difference)")
          return
        }
      }
      for work in run.works.events { work.succeed(0) }
    }
  }

  @Test(
    "R4, R17: three callers ask, two leave, an answer comes, the work ends and the object goes, in every order",
    arguments: [false, true]
  )
  func everyOrder(isShared: Bool) {
    check(TestError(1) as any Error, isShared: isShared, isTyped: false)
    check(TestError(1), isShared: isShared, isTyped: true)
  }

  @Test("An eviction looks at a constant number of keys, however many answers are kept")
  func costOfEviction() {
    let uses = [10, 10_000].map { limit -> Int in
      let count = 100
      let uses = Locked(0)
      let answers = PendingPromises<CountedKey, String, TestError>(keepingEarlyAnswers: limit)
      // The table of the keys does not grow after one eviction.
      for number in 0...limit { answers.resolve(CountedKey(number, uses), with: .success("a")) }
      uses.withLock { $0 = 0 }
      for number in 1...count { answers.resolve(CountedKey(limit + number, uses), with: .success("a")) }
      return uses.withLock { $0 } / count
    }
    #expect(uses.allSatisfy { $0 < 20 }, "\(uses)")
  }
}

/// A key that counts the reads of its number.
private struct CountedKey: Hashable, Sendable {
  private let number: Int
  private let uses: Locked<Int>

  init(_ number: Int, _ uses: Locked<Int>) { (self.number, self.uses) = (number, uses) }

  private var counted: Int {
    uses.withLock { $0 += 1 }
    return number
  }

  static func == (left: CountedKey, right: CountedKey) -> Bool { left.counted == right.counted }
  func hash(into hasher: inout Hasher) { hasher.combine(counted) }
}
