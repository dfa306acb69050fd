import Futures
import FuturesTesting
import TestSupport
import Testing

/// A failure that can represent cancellation, and has other cases.
enum CancellableTestError: CancellableFailure, Equatable {
  case cancelled, other
}

/// Compares every order of the events with a short model.
struct CancellationTableTests {
  /// All sequences in which one event happens twice; in the thorough tier, each event happens twice.
  static func sequences<Event: Hashable & Sendable>(of events: [Event]) -> [[Event]] {
    TestTier.choose(standard: events.map { events + [$0] }, thorough: [events + events]).flatMap(orders)
  }

  /// All distinct orders of the events.
  static func orders<Event: Hashable & Sendable>(of events: [Event]) -> [[Event]] {
    var counts = Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
    let distinct = events.enumerated().filter { events.firstIndex(of: $1) == $0 }.map(\.element)
    var sequence: [Event] = []
    var all: [[Event]] = []
    func extend() {
      if sequence.count == events.count { return all.append(sequence) }
      for event in distinct where counts[event]! > 0 {
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

  /// The expected state of a future.
  enum Expected: Equatable { case pending, value, cancelled, broken, pendingForEver }

  /// One promise and one future, with the state that the contract expects.
  struct Run<Failure: Error> {
    let canRepresentCancellation: Bool
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

    init(canRepresentCancellation: Bool, canSayBroken: Bool) {
      self.canRepresentCancellation = canRepresentCancellation
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
        if canRepresentCancellation { end(.cancelled) }
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
        _ = brokenPromises(madeIn: #fileID) { promise = nil }
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

  func check<Failure: Error>(_: Failure.Type, canRepresentCancellation: Bool, canSayBroken: Bool) {
    for sequence in Self.sequences(of: Event.allCases) {
      var run = Run<Failure>(canRepresentCancellation: canRepresentCancellation, canSayBroken: canSayBroken)
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
      run.promise?.succeed(1)
    }
  }

  @Test("R15: cancel, resolve, attach, remove and drop, twice each, in every order, for each kind of failure type")
  func everyOrder() {
    check((any Error).self, canRepresentCancellation: true, canSayBroken: true)
    check(CancellableTestError.self, canRepresentCancellation: true, canSayBroken: false)
    check(TestError.self, canRepresentCancellation: false, canSayBroken: false)
  }

  // MARK: - Derived futures

  enum DerivedEvent: CaseIterable { case cancelFirst, cancelSecond, attach, remove, resolve, shield }

  /// One source, two derived futures, a callback and a shielded view.
  func checkDerived<Failure: Error>(_: Failure.Type, canSay: Bool) {
    for sequence in Self.orders(of: DerivedEvent.allCases) {
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

  @Test("R16: consumers leave in every order; the last to leave stops the source, and all others get its result")
  func everyOrderOfLeavingConsumers() {
    checkDerived((any Error).self, canSay: true)
    checkDerived(TestError.self, canSay: false)
  }
}
