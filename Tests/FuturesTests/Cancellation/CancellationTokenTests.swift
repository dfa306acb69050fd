import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of tokens and their sources: R13 and R14.
@Suite("Cancellation tokens")
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

  /// Calls `body` at each of `depth` levels of nested callbacks.
  static func nest(_ depth: Int, _ body: @escaping @Sendable () -> Void) {
    guard depth > 0 else { return }
    let promise = Promise<Int, Never>()
    promise.future.whenResolved(on: .immediate) { _ in
      body()
      nest(depth - 1, body)
    }
    promise.succeed(depth)
  }

  struct WeakReference { weak var object: Tracked? }

  // MARK: - Every order

  enum Event: CaseIterable { case register, remove, cancel, dropSource, dropToken }

  /// The cause of the cancellation.
  ///
  /// A token or a handler keeps a linked source, and a deadline, without their source.
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
    var handlers: [WeakReference] = []
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
        handlers.append(WeakReference(object: object))
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

  @Test("R13: handlers have run when cancel() returns, at any depth of callbacks")
  func cancelInCallbackRunsHandlersFirst() {
    let levels = Recorder<Int>()
    Self.nest(20) {
      // This callback is deferred at the deepest level, and must not delay the handlers.
      Future.succeeded(1).whenResolved(on: .immediate) { _ in }
      let source = CancellationTokenSource()
      let linked = CancellationTokenSource(linkedTo: source.token)
      let log = Recorder<String>()
      source.token.register { log.record("handler") }
      linked.token.register { log.record("linked") }
      let promise = Promise<Int, any Error>()
      promise.onCancel { log.record("producer") }
      let future = promise.future.map { $0 + 1 }.cancelled(by: linked.token)
      #expect(source.cancel())
      #expect(Set(log.events) == ["handler", "linked", "producer"])
      #expect(log.events.count == 3)
      #expect(future.isResolved)
      levels.record(1)
    }
    #expect(levels.events.count == 20)
  }

  @Test("R13: handlers have run when cancel() returns, at any depth of handlers")
  func cancelInHandlerRunsHandlersFirst() {
    let sources = (0..<20).map { _ in CancellationTokenSource() }
    let log = Recorder<Int>()
    for index in 0..<19 {
      sources[index].token.register {
        #expect(sources[index + 1].cancel(), "source \(index)")
        #expect(log.events == Array((index + 1..<20).reversed()), "source \(index)")
        log.record(index)
      }
    }
    sources[19].token.register { log.record(19) }
    #expect(sources[0].cancel())
    #expect(log.events == Array((0..<20).reversed()))
  }

  @Test("R13: a concurrent cancel() returns false and does not wait for the handlers")
  func concurrentCancelDoesNotWait() {
    let source = CancellationTokenSource()
    let log = Recorder<Bool>()
    // The handler waits for the other thread, which would wait for the handler.
    source.token.register { onThread { log.record(source.cancel()) } }
    #expect(source.cancel())
    #expect(log.events == [false])
  }

  @Test("R13: remove() on another thread returns false and does not wait for the running handler")
  func concurrentRemoveDoesNotWait() {
    let source = CancellationTokenSource()
    let log = Recorder<Bool>()
    let registration = Locked<Registration?>(nil)
    let running = source.token.register { onThread { log.record(registration.withLock { $0!.remove() }) } }
    registration.withLock { $0 = running }
    source.cancel()
    #expect(log.events == [false])
  }

  @Test("R13: a handler can register another handler, which runs at once")
  func handlerRegisters() {
    let source = CancellationTokenSource()
    let log = Recorder<Int>()
    let token = source.token
    token.register {
      log.record(1)
      #expect(!token.register { log.record(2) }.remove())
      log.record(3)
    }
    token.register { log.record(4) }
    source.cancel()
    #expect(log.events == [1, 2, 3, 4])
    token.register { log.record(5) }
    #expect(log.events == [1, 2, 3, 4, 5])
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

  @Test("R13: a handler can cancel again or drop the source, and later handlers still run")
  func handlerDropsSource() {
    let box = Locked<CancellationTokenSource?>(CancellationTokenSource())
    weak let weakSource = box.withLock { $0 }
    let log = Recorder<Int>()
    let token = box.withLock { $0!.token }
    token.register {
      #expect(weakSource?.cancel() == false)
      _ = box.withLock { $0.take() }
      log.record(1)
    }
    token.register { log.record(2) }
    #expect(box.withLock { $0 }?.cancel() == true)
    #expect(log.events == [1, 2])
    #expect(weakSource == nil)
    #expect(token.isCancelled)
  }

  @Test("R13: cancelling or removing a handler that holds its own source releases both")
  func handlerThatHoldsItsSourceIsReleased() {
    weak var captured: CancellationTokenSource?
    weak var other: CancellationTokenSource?
    do {
      let source = CancellationTokenSource()
      captured = source
      source.token.register { _ = source.isCancelled }
      source.cancel()
      let second = CancellationTokenSource()
      other = second
      #expect(second.token.register { _ = second.isCancelled }.remove())
    }
    #expect(captured == nil)
    #expect(other == nil)
  }

  // MARK: - Tokens

  @Test("R13: `none` can never be cancelled, and `cancelled` always is")
  func constantTokensKeepTheirState() throws {
    let log = Recorder<Int>()
    #expect(!CancellationToken.none.isCancelled)
    try CancellationToken.none.throwIfCancelled()
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      let registration = CancellationToken.none.register { object.use() }
      withExtendedLifetime(registration) {}
    }
    #expect(captured == nil)
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

  @Test("R14: each parent cancels a linked source, which cancels no parent")
  func linkedSourceFollowsItsParents() {
    for index in 0..<3 {
      let parents = (0..<3).map { _ in CancellationTokenSource() }
      let linked = CancellationTokenSource(linkedTo: parents[0].token, parents[1].token, .none, parents[2].token)
      let other = CancellationTokenSource(linkedTo: parents[0].token, parents[0].token)
      let log = Recorder<String>()
      linked.token.register { log.record("linked") }
      other.token.register { log.record("other") }
      #expect(!linked.isCancelled, "parent \(index)")
      #expect(parents[index].cancel(), "parent \(index)")
      #expect(linked.isCancelled && linked.token.isCancelled, "parent \(index)")
      #expect(log.events.sorted() == (index == 0 ? ["linked", "other"] : ["linked"]), "parent \(index)")
      #expect(parents[(index + 1) % 3].cancel() && parents[(index + 2) % 3].cancel(), "parent \(index)")
      #expect(!linked.cancel(), "parent \(index)")
      #expect(log.events.sorted() == ["linked", "other"], "parent \(index)")
    }
    let parent = CancellationTokenSource()
    let child = CancellationTokenSource(linkedTo: parent.token)
    #expect(child.cancel())
    #expect(!parent.isCancelled)
    #expect(parent.cancel())
  }

  @Test("R14: linking a source to a cancelled token cancels it; linking to `none` does not")
  func linkingToCancelledTokenCancels() {
    let parent = CancellationTokenSource()
    parent.cancel()
    let child = CancellationTokenSource(linkedTo: CancellationTokenSource().token, parent.token)
    #expect(child.isCancelled && !child.cancel())
    let log = Recorder<Int>()
    child.token.register { log.record(1) }
    #expect(log.events == [1])
    let free = CancellationTokenSource(linkedTo: .none, .none)
    #expect(!free.isCancelled && free.cancel() && free.token.isCancelled)
  }

  @Test("R14: `any` is cancelled by each of its tokens, before or after; `any` of no tokens never is")
  func anyFollowsEachToken() {
    #expect(!CancellationToken.any().isCancelled)
    #expect(!CancellationToken.any(.none).isCancelled)
    #expect(CancellationToken.any(.none, .cancelled).isCancelled)
    for index in 0..<2 {
      let sources = [CancellationTokenSource(), CancellationTokenSource()]
      let (first, second) = (sources[0].token, sources[1].token)
      let tokens: [CancellationToken] = [
        .any(first, second), .any(second, first, second), .any(.none, first, second), .any(.any(first), .any(second)),
        .any(.any(first, second), first, second),
      ]
      let log = Recorder<Int>()
      for (number, token) in tokens.enumerated() { token.register { log.record(number) } }
      #expect(tokens.map(\.isCancelled) == Array(repeating: false, count: 5), "token \(index)")
      sources[index].cancel()
      #expect(tokens.map(\.isCancelled) == Array(repeating: true, count: 5), "token \(index)")
      sources[1 - index].cancel()
      #expect(log.events.sorted() == Array(0..<5), "token \(index)")
      #expect(CancellationToken.any(first, second).isCancelled, "token \(index)")
    }
    let source = CancellationTokenSource()
    let one = CancellationToken.any(source.token, source.token, .none)
    #expect(!one.isCancelled)
    source.cancel()
    #expect(one.isCancelled)
  }

  @Test("R5, R14: dropping all parents releases the handlers of a linked source or of `any`")
  func droppedParentsReleaseHandlers() {
    weak var any: Tracked?
    weak var linked: Tracked?
    do {
      let objects = [Tracked(), Tracked()]
      (any, linked) = (objects[0], objects[1])
      let sources = [CancellationTokenSource(), CancellationTokenSource()]
      let (first, second) = (objects[0], objects[1])
      CancellationToken.any(sources[0].token, sources[1].token).register { first.use() }
      CancellationTokenSource(linkedTo: sources[0].token).token.register { second.use() }
    }
    #expect(any == nil)
    #expect(linked == nil)
  }

  @Test("R14: released linked sources leave nothing in a long-lived parent")
  func linkedSourcesLeaveNothing() {
    let (parent, other) = (CancellationTokenSource(), CancellationTokenSource())
    let left = Self.blocksLeft {
      for number in 0..<10_000 {
        let linked = CancellationTokenSource(linkedTo: parent.token, other.token)
        switch number % 5 {
        case 0: break
        case 1: linked.token.register { _ = number }.remove()
        case 2: CancellationToken.any(linked.token, other.token).register { _ = number }.remove()
        case 3: linked.token.register { _ = number }; linked.cancel()
        default: _ = CancellationTokenSource(linkedTo: linked.token, linked.token)
        }
      }
    }
    #expect(left < 100, "\(left)")
    #expect(parent.cancel())
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

  // In processes of their own, because an overflow of the stack ends the process.

  @Test("R6, R14: cancelling and releasing a long chain of linked sources takes no stack")
  func longChainCancelled() async {
    await #expect(processExitsWith: .success) { CancellationTokenTests.checkLongChain(isCancelled: true) }
  }

  @Test("R6, R14: releasing an uncancelled long chain of linked sources takes no stack")
  func longChainReleased() async {
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

  // MARK: - Memory

  @Test("R14: finished operations leave no registration with a long-lived token", arguments: 0..<4)
  func finishedOperationsLeaveNothing(operation: Int) {
    let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
    let token = source.token
    let left = Self.blocksLeft {
      for number in 0..<DepthTests.count {
        switch operation {
        case 0: token.register { _ = number }.remove()
        case 1:
          let promise = Promise<Int, any Error>()
          let future = promise.future.cancelled(by: token)
          promise.succeed(number)
          #expect(future.isResolved, "operation \(number)")
        case 2: CancellationTokenSource(linkedTo: token, other.token).token.register { _ = number }.remove()
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
