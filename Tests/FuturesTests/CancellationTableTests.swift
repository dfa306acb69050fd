import Futures
import TestSupport
import Testing

/// A failure that can say "cancelled", and be told from others.
enum CancellableTestError: CancellableFailure, Equatable {
  case cancelled, other
}

/// Every order of the events, compared with a model that is written down in a few lines.
@Suite("Cancellation, every order")
struct CancellationTableTests {
  // One thread does all of it, so ThreadSanitizer finds nothing here, and takes long.
  #if TSAN
    static let happensTwice = false
  #else
    static let happensTwice = true
  #endif

  /// All sequences that contain each event twice, or once.
  static func sequences<Event: Hashable>(of events: [Event], twice: Bool = happensTwice) -> [[Event]] {
    var counts = Dictionary(uniqueKeysWithValues: events.map { ($0, twice ? 2 : 1) })
    var sequence: [Event] = []
    var all: [[Event]] = []
    func extend() {
      if sequence.count == events.count * (twice ? 2 : 1) { return all.append(sequence) }
      for event in events where counts[event]! > 0 {
        counts[event]! -= 1
        sequence.append(event)
        extend()
        sequence.removeLast()
        counts[event]! += 1
      }
    }
    extend()
    return all
  }

  enum Event: CaseIterable { case cancel, succeed, attach, remove, drop }

  /// What a future is expected to be.
  enum Expected: Equatable { case pending, value, cancelled, broken, pendingForEver }

  /// One promise, one future, and what the contract says of them.
  struct Run<Failure: Error> {
    let canSayCancelled: Bool
    let canSayBroken: Bool
    var promise: Promise<Int, Failure>? = Promise()
    let future: Future<Int, Failure>
    let handled = Recorder<Int>()
    let delivered = Recorder<Int>()
    var registrations: [(number: Int, registration: Registration)] = []
    var expected = Expected.pending
    var isCancelled = false
    var listed: [Int] = []
    var expectedDelivered: [Int] = []

    init(canSayCancelled: Bool, canSayBroken: Bool) {
      self.canSayCancelled = canSayCancelled
      self.canSayBroken = canSayBroken
      future = promise!.future
      promise!.onCancel { [handled] in handled.record(1) }
      promise!.onCancel { [handled] in handled.record(2) }
    }

    mutating func end(_ end: Expected) {
      expected = end
      if end != .pendingForEver { expectedDelivered += listed }
      listed = []
    }

    mutating func perform(_ event: Event) {
      switch event {
      case .cancel:
        future.cancel()
        guard expected == .pending, !isCancelled else { return }
        isCancelled = true
        if canSayCancelled { end(.cancelled) }
      case .succeed:
        guard let promise else { return }
        #expect(promise.succeed(1) == (expected == .pending))
        if expected == .pending { end(.value) }
      case .attach:
        let number = registrations.count
        registrations.append(
          (number, future.whenResolved(on: .immediate) { [delivered] _ in delivered.record(number) })
        )
        switch expected {
        case .pending: listed.append(number)
        case .pendingForEver: break
        case .value, .cancelled, .broken: expectedDelivered.append(number)
        }
      case .remove:
        guard let (number, registration) = registrations.popLast() else { return }
        #expect(registration.remove() == listed.contains(number))
        listed.removeAll { $0 == number }
        registrations.append((number, registration))
      case .drop:
        promise = nil
        if expected == .pending { end(canSayBroken ? .broken : .pendingForEver) }
      }
    }

    var actual: Expected {
      switch future.peek() {
      case nil: expected == .pendingForEver ? .pendingForEver : .pending
      case .success: .value
      case .failure(let error): error is BrokenPromise ? .broken : .cancelled
      }
    }
  }

  func check<Failure: Error>(_: Failure.Type, canSayCancelled: Bool, canSayBroken: Bool) {
    for sequence in Self.sequences(of: Event.allCases) {
      var run = Run<Failure>(canSayCancelled: canSayCancelled, canSayBroken: canSayBroken)
      for event in sequence {
        run.perform(event)
        guard run.actual == run.expected, run.delivered.events == run.expectedDelivered,
          run.handled.events == (run.isCancelled ? [1, 2] : [])
        else {
          Issue.record(
            "\(sequence), at \(event): \(run.actual), delivered \(run.delivered.events), handled \(run.handled.events)"
          )
          return
        }
      }
    }
  }

  @Test("R15: cancel, resolve, attach, remove and drop, twice each, in every order, where the failure is open")
  func anyError() { check((any Error).self, canSayCancelled: true, canSayBroken: true) }

  @Test("R15: the same, where the failure can say cancelled")
  func cancellable() { check(CancellableTestError.self, canSayCancelled: true, canSayBroken: false) }

  @Test("R15: the same, where the failure cannot say cancelled, so that the producer decides")
  func typed() { check(TestError.self, canSayCancelled: false, canSayBroken: false) }

  // MARK: - Derived futures

  enum DerivedEvent: CaseIterable { case cancelFirst, cancelSecond, attach, remove, resolve, shield }

  /// One source, two derived futures, a callback and a shielded view.
  func checkDerived<Failure: Error>(_: Failure.Type, canSay: Bool) {
    for sequence in Self.sequences(of: DerivedEvent.allCases, twice: false) {
      let promise = Promise<Int, Failure>()
      let handled = Recorder<Int>()
      promise.onCancel { handled.record(1) }
      let source = promise.future
      let first = source.map { $0 + 1 }
      let second = source.flatMap { .succeeded($0 + 2) }
      var consumers: Set = ["first", "second"]
      var registration: Registration?
      var shielded: Future<Int, Failure>?
      var sourceIsCancelled = false
      var sourceIsResolved = false
      var (firstLeft, secondLeft) = (false, false)

      func leave(_ name: String) {
        guard consumers.remove(name) != nil, consumers.isEmpty, !sourceIsResolved, !sourceIsCancelled else { return }
        sourceIsCancelled = true
        if canSay { sourceIsResolved = true }
      }
      for event in sequence {
        switch event {
        case .cancelFirst:
          first.cancel()
          firstLeft = !sourceIsResolved || sourceIsCancelled && canSay && firstLeft
          leave("first")
        case .cancelSecond:
          second.cancel()
          secondLeft = !sourceIsResolved || sourceIsCancelled && canSay && secondLeft
          leave("second")
        case .attach:
          registration = source.whenResolved(on: .immediate) { _ in }
          if !sourceIsResolved { consumers.insert("callback") }
        case .remove:
          registration?.remove()
          consumers.remove("callback")
        case .resolve:
          let isFirst = promise.succeed(1)
          #expect(isFirst == !sourceIsResolved, "\(sequence)")
          sourceIsResolved = true
        case .shield:
          shielded = source.shielded
          if !sourceIsResolved { consumers.insert("shield") }
        }
        #expect(handled.events == (sourceIsCancelled ? [1] : []), "\(sequence) at \(event)")
        #expect(source.isResolved == sourceIsResolved, "\(sequence) at \(event)")
        if canSay {
          #expect(first.isResolved == (firstLeft || sourceIsResolved), "\(sequence) at \(event)")
          #expect(second.isResolved == (secondLeft || sourceIsResolved), "\(sequence) at \(event)")
        } else {
          #expect(first.isResolved == sourceIsResolved, "\(sequence) at \(event)")
          #expect(second.isResolved == sourceIsResolved, "\(sequence) at \(event)")
        }
        if let shielded { #expect(shielded.isResolved == sourceIsResolved, "\(sequence) at \(event)") }
      }
    }
  }

  @Test("R16: consumers that leave in every order; the last one that leaves by cancellation stops the source")
  func derived() { checkDerived((any Error).self, canSay: true) }

  @Test("R16: the same, where the failure cannot say cancelled, so that all still resolve as the source does")
  func derivedTyped() { checkDerived(TestError.self, canSay: false) }
}
