import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of tokens and their sources: R13 and R14.
struct CancellationTokenTests {
  /// The number of blocks that `body` leaves behind, after a warm-up, on a thread with a small stack.
  static func blocksLeft(after body: @escaping @Sendable () -> Void) -> Int64 {
    let left = Locked<Int64>(0)
    onThread {
      let blocks = leastBlocksLeft { _ in body() }
      left.withLock { $0 = blocks }
    }
    return left.withLock { $0 }
  }

  // MARK: - Every order

  enum Event: CaseIterable { case register, remove, cancel, dropSource, dropToken }

  /// The cause of the cancellation.
  ///
  /// A token or a handler keeps the link to a parent, and a deadline, also after the source was dropped.
  enum Canceller: CaseIterable, Sendable { case source, parent, deadline }

  /// One source and one token, with the state that the contract expects.
  struct Run {
    let canceller: Canceller
    /// Whether the registrations outlive the source; a registration keeps the deadline, too.
    let keepsRegistrations: Bool
    let parent = CancellationTokenSource()
    let manual = ManualContext()
    var source: CancellationTokenSource?
    var token: CancellationToken?
    var registrations: [(number: Int, registration: Registration)] = []
    var handlers: [WeakReference<Tracked>] = []
    let ran = Recorder<Int>()
    var expected: [Int] = []
    var listed: [Int] = []
    var isCancelled = false
    var cancellations = 0

    init(_ canceller: Canceller, keepsRegistrations: Bool) {
      (self.canceller, self.keepsRegistrations) = (canceller, keepsRegistrations)
      source = canceller == .parent ? CancellationTokenSource(linkedTo: parent.token) : CancellationTokenSource()
      if canceller == .deadline { source?.cancel(after: .seconds(5), on: manual.context) }
      token = source?.token
    }

    var canBeCancelled: Bool {
      source != nil || canceller != .source && (token != nil || !listed.isEmpty)
    }

    mutating func perform(_ event: Event) {
      switch event {
      case .register:
        guard let token else { return }
        let number = handlers.count
        let object = Tracked()
        handlers.append(WeakReference(object))
        let registration = token.register { [ran] in
          object.use()
          ran.record(number)
        }
        registrations.append((number, registration))
        if isCancelled { expected.append(number) } else if canBeCancelled { listed.append(number) }
      case .remove:
        // A second removal uses the other registration, if there are two.
        guard let (number, registration) = registrations.popLast() else { return }
        let isListed = listed.contains(number)
        let removed = registration.remove()
        // If a handler can no longer run, both answers are correct.
        if isListed || isCancelled { #expect(removed == isListed) }
        listed.removeAll { $0 == number }
        if keepsRegistrations { registrations.insert((number, registration), at: 0) }
      case .cancel:
        switch canceller {
        case .source: if let source { #expect(source.cancel() == (cancellations == 0)) }
        case .parent: #expect(parent.cancel() == (cancellations == 0))
        case .deadline: manual.advance(by: .seconds(5))
        }
        cancellations += 1
        guard canBeCancelled, !isCancelled else { return }
        isCancelled = true
        expected += listed
        listed = []
      case .dropSource:
        source = nil
        if !keepsRegistrations { registrations = [] }
      case .dropToken: token = nil
      }
      if !canBeCancelled { listed = [] }
    }

    /// The difference from the contract; `nil` if there is none.
    var difference: String? {
      if ran.events != expected { return "ran \(ran.events) instead of \(expected)" }
      let alive = handlers.indices.filter { handlers[$0].object != nil }
      if alive != listed { return "handlers \(alive) are alive instead of \(listed)" }
      if let token, token.isCancelled != isCancelled { return "isCancelled of the token is \(token.isCancelled)" }
      if let source, source.isCancelled != isCancelled { return "isCancelled of the source is \(source.isCancelled)" }
      let isKept = canBeCancelled || !registrations.isEmpty
      let timers = canceller == .deadline && cancellations == 0 && isKept ? 1 : 0
      if manual.pendingCount != timers { return "\(manual.pendingCount) timers instead of \(timers)" }
      return nil
    }
  }

  @Test(
    "R5, R13, R14: register, remove, cancel, drop the source and the token, twice each, in every order",
    arguments: Canceller.allCases,
    [true, false]
  )
  func everyOrder(canceller: Canceller, keepsRegistrations: Bool) {
    for sequence in CancellationTableTests.sequences(of: Event.allCases) {
      var run = Run(canceller, keepsRegistrations: keepsRegistrations)
      for event in sequence {
        run.perform(event)
        if let difference = run.difference {
          Issue.record("\(sequence), at \(event): \(difference)")
          return
        }
      }
    }
  }

  // MARK: - Cancelling

  @Test("R13: cancel() and remove() on another thread return false and do not wait for the running handler")
  func concurrentCallsDoNotWait() {
    let source = CancellationTokenSource()
    let log = Recorder<[Bool]>()
    let registration = Locked<Registration?>(nil)
    // The handler waits for the other thread, which would wait for the handler.
    let running = source.token.register {
      onThread { log.record([source.cancel(), registration.withLock { $0!.remove() }]) }
    }
    registration.withLock { $0 = running }
    #expect(source.cancel())
    #expect(log.events == [[false, false]])
  }

  @Test("R13: a handler can remove later handlers; removing itself or an earlier handler returns false")
  func handlerRemoves() {
    let source = CancellationTokenSource()
    let log = Recorder<Int>()
    let registrations = Locked<[Registration]>([])
    weak var last: Tracked?
    let all = (0..<3).map { number in
      let object = Tracked()
      if number == 2 { last = object }
      return source.token.register {
        object.use()
        log.record(number)
        guard number == 1 else { return }
        #expect(registrations.withLock { $0 }.map { $0.remove() } == [false, false, true])
      }
    }
    registrations.withLock { $0 = all }
    #expect(last != nil)
    source.cancel()
    #expect(log.events == [0, 1])
    #expect(last == nil)
  }

  // MARK: - Tokens

  @Test("R13: `none` can never be cancelled, and `cancelled` always is")
  func constantTokensKeepTheirState() throws {
    let log = Recorder<Int>()
    #expect(!CancellationToken.none.isCancelled)
    try CancellationToken.none.throwIfCancelled()
    let (captured, _) = withTracked { object in
      let registration = CancellationToken.none.register { object.use() }
      withExtendedLifetime(registration) {}
    }
    #expect(captured.isReleased)
    #expect(CancellationToken.cancelled.isCancelled)
    #expect(throws: CancellationError.self) { try CancellationToken.cancelled.throwIfCancelled() }
    #expect(!CancellationToken.cancelled.register { log.record(1) }.remove())
    #expect(log.events == [1])
    let source = CancellationTokenSource()
    try source.token.throwIfCancelled()
    source.cancel()
    #expect(throws: CancellationError.self) { try source.token.throwIfCancelled() }
  }

  @Test("R13: tokens of one source are equal and have equal hashes; tokens of different sources are not equal")
  func tokensOfOneSourceAreEqual() {
    let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
    let linked = CancellationTokenSource(linkedTo: first.token)
    let tokens = [first, second, linked].flatMap { [$0.token, $0.token] }
    #expect(first.token == first.token && linked.token == linked.token)
    #expect(first.token != second.token && first.token != linked.token && first.token != .none)
    #expect(Set(tokens + [.none, .none, .cancelled, .cancelled]).count == 5)
    first.cancel()
    #expect(first.token == tokens[0] && first.token != .cancelled)
  }

  // MARK: - Linked sources

  /// Tokens that follow both `first` and `second`, with the text that names them.
  static let links:
    [(name: String, make: @Sendable (_ first: CancellationToken, _ second: CancellationToken) -> CancellationToken)] = [
      ("source", { CancellationTokenSource(linkedTo: $0, $1).token }),
      ("source of three", { CancellationTokenSource(linkedTo: $0, .none, CancellationTokenSource().token, $1).token }),
      ("source, repeated", { CancellationTokenSource(linkedTo: $0, $0, $1, $1).token }),
      ("any", { .any($0, $1) }), ("any, repeated", { .any($1, $0, $1) }), ("any with none", { .any(.none, $0, $1) }),
      ("any of one each", { .any(.any($0), .any($1)) }), ("any of any", { .any(.any($0, $1), $0, $1) }),
      ("source of any", { CancellationTokenSource(linkedTo: .any($0, $1, .none)).token }),
    ]

  @Test("R14: each parent cancels a linked source and `any`, once, before or after", arguments: links.indices, 0..<2)
  func linkFollowsEachParent(link: Int, parent: Int) {
    let (name, make) = Self.links[link]
    let parents = [CancellationTokenSource(), CancellationTokenSource()]
    let (first, second) = (parents[0].token, parents[1].token)
    let token = make(first, second)
    let log = Recorder<Int>()
    token.register { log.record(1) }
    #expect(!token.isCancelled, "\(name)")
    #expect(parents[parent].cancel(), "\(name)")
    #expect(token.isCancelled && log.events == [1], "\(name)")
    let late = make(first, second)
    late.register { log.record(2) }
    #expect(late.isCancelled && log.events == [1, 2], "\(name)")
    #expect(parents[1 - parent].cancel() && log.events == [1, 2], "\(name)")
  }

  @Test("R14: a linked source does not cancel its parent; a source or `any` that links only `none` is not cancelled")
  func linkedSourceCancelsNoParent() {
    let parent = CancellationTokenSource()
    let linked = (0..<2).map { _ in CancellationTokenSource(linkedTo: parent.token) }
    let one = CancellationToken.any(parent.token, parent.token, .none)
    #expect(linked[0].cancel() && !parent.isCancelled && !linked[1].isCancelled && !one.isCancelled)
    #expect(parent.cancel())
    let late = CancellationTokenSource(linkedTo: parent.token)
    #expect(one.isCancelled && linked[1].isCancelled && late.isCancelled && !linked[1].cancel() && !late.cancel())
    let free = CancellationTokenSource(linkedTo: .none, .none)
    #expect(!free.isCancelled && free.cancel() && free.token.isCancelled)
    #expect(!CancellationToken.any().isCancelled && !CancellationToken.any(.none).isCancelled)
    #expect(CancellationToken.any(.none, .cancelled).isCancelled)
  }

  @Test("R5, R14: dropping all parents releases the handlers of a linked source or of `any`")
  func droppedParentsReleaseHandlers() {
    let (any, _) = withTracked { object in
      let sources = [CancellationTokenSource(), CancellationTokenSource()]
      CancellationToken.any(sources[0].token, sources[1].token).register { object.use() }
    }
    let (linked, _) = withTracked { object in
      let source = CancellationTokenSource()
      CancellationTokenSource(linkedTo: source.token).token.register { object.use() }
    }
    #expect(any.isReleased && linked.isReleased)
  }

  static func checkLongChain(isCancelled: Bool) {
    let left = blocksLeft {
      let first = CancellationTokenSource()
      let log = Recorder<Int>()
      var last = first.token
      let length = TestTier.choose(standard: 10_000, thorough: 100_000)
      for _ in 0..<length { last = CancellationTokenSource(linkedTo: last).token }
      let registration = last.register { log.record(1) }
      if isCancelled { precondition(first.cancel()) }
      precondition(last.isCancelled == isCancelled && log.events.count == (isCancelled ? 1 : 0))
      precondition(registration.remove() == !isCancelled)
    }
    precondition(left < 100, "\(left)")
  }

  // Both cases run in processes of their own, because an overflow of the stack ends the process.

  @Test("R6, R14: cancelling and releasing a long chain of linked sources, or only releasing it, takes no stack")
  func longChainTakesNoStack() async {
    await #expect(processExitsWith: .success) { CancellationTokenTests.checkLongChain(isCancelled: true) }
    await #expect(processExitsWith: .success) { CancellationTokenTests.checkLongChain(isCancelled: false) }
  }

  // MARK: - Deadlines

  @Test("R13: cancel(after:) cancels at the earliest of several deadlines, and at once for zero or less")
  func earliestDeadlineCancels() {
    let manual = ManualContext()
    let source = CancellationTokenSource()
    let log = Recorder<Int>()
    source.token.register { log.record(1) }
    source.cancel(after: .seconds(7), on: manual.context)
    source.cancel(after: .seconds(5), on: manual.context)
    manual.advance(by: .seconds(4))
    #expect(!source.isCancelled)
    manual.advance(by: .seconds(1))
    #expect(source.isCancelled && log.events == [1])
    #expect(manual.pendingCount == 0)
    source.cancel(after: .seconds(1), on: manual.context)
    #expect(manual.pendingCount == 0)
    for delay in [Duration.zero, .seconds(-1)] {
      let source = CancellationTokenSource()
      source.cancel(after: delay, on: manual.context)
      #expect(source.isCancelled, "delay \(delay)")
    }
  }

  // MARK: - Memory

  @Test("R14: an earlier cancellation, also of a parent, frees the timers of a source")
  func deadlineIsFreed() {
    let manual = ManualContext()
    let parent = CancellationTokenSource()
    let (source, linked) = (CancellationTokenSource(), CancellationTokenSource(linkedTo: parent.token))
    for number in 1...3 {
      source.cancel(after: .seconds(number), on: manual.context)
      linked.cancel(after: .seconds(number), on: manual.context)
    }
    #expect(manual.pendingCount == 6)
    source.cancel()
    #expect(manual.pendingCount == 3)
    parent.cancel()
    #expect(manual.pendingCount == 0)
  }

  @Test("R14: finished operations and released linked sources leave nothing in long-lived tokens", arguments: 0..<7)
  func finishedOperationsLeaveNothing(operation: Int) {
    let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
    let token = source.token
    let left = Self.blocksLeft {
      for number in 0..<TestTier.choose(standard: 1_000, thorough: 1_000_000) {
        let linked = CancellationTokenSource(linkedTo: token, other.token)
        switch operation {
        case 0: linked.token.register { _ = number }.remove()
        case 1: break
        case 2: CancellationToken.any(linked.token, other.token).register { _ = number }.remove()
        case 3: linked.token.register { _ = number }; linked.cancel()
        case 4: _ = CancellationTokenSource(linkedTo: linked.token, linked.token)
        case 5:
          let manual = ManualContext()
          do {
            let dropped = CancellationTokenSource()
            dropped.cancel(after: .seconds(1), on: manual.context)
            dropped.token.register { _ = number }
          }
          manual.advance(by: .seconds(1))
        default: promiseThatIsCancelled(by: token)
        }
      }
    }
    #expect(left < 100, "\(left)")
    #expect(source.cancel())
  }

  private func promiseThatIsCancelled(by token: CancellationToken) {
    let promise = Promise<Int, TestError>()
    promise.onCancel { [weak promise] in promise?.fail(TestError(1)) }
    promise.future.cancelled(by: token).cancel()
    #expect(promise.isResolved)
  }
}
