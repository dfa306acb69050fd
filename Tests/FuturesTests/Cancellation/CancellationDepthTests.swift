import AllocationCounter
import Futures
import TestSupport
import Testing

/// Tests of R6 and R13, on threads with a small stack.
@Suite(.timeLimit(.minutes(20)))
struct CancellationDepthTests {
  private static let count = TestTier.choose(standard: 20_000, thorough: 1_000_000)

  @Test("R6, R13: a cancellation that nests too deeply runs its handlers after those of the outermost one")
  func deferredCancellation() {
    let sources = (0...70).map { _ in CancellationTokenSource() }
    let log = Recorder<String>()
    for level in 0..<70 {
      sources[level].token.register {
        log.record("begin \(level)")
        sources[level + 1].cancel()
        log.record("end \(level)")
      }
    }
    sources[0].cancel()
    func nested(_ levels: Range<Int>) -> [String] {
      levels.map { "begin \($0)" } + levels.reversed().map { "end \($0)" }
    }
    #expect(log.events == nested(0..<64) + nested(64..<70))
  }

  @Test(
    "R6, R13, R15: a chain fits into a small stack; all handlers have run when the outermost cancel() returns",
    arguments: Chain.allCases
  )
  func chains(_ chain: Chain) {
    onThread(stackSize: DepthTests.smallStack) {
      let log = Recorder<Int>()
      let links = chain.links(count: Self.count)
      for index in links.indices.dropLast() {
        links[index].onCancel { [next = links[index + 1]] in
          log.record(index)
          next.cancel()
        }
      }
      links[0].cancel()
      #expect(log.events == Array(links.indices.dropLast()))
      #expect(links.allSatisfy { $0.isCancelled })
    }
  }

  @Test("R13: a thread that blocks in a deep handler first runs the deferred handlers", arguments: Chain.allCases)
  func blocking(_ chain: Chain) {
    let links = chain.links(count: 140)
    let log = Recorder<Int>()
    for index in links.indices.dropLast() {
      let promise = Promise<Int, Never>()
      links[index + 1].onCancel { promise.succeed(index) }
      links[index].onCancel { [next = links[index + 1]] in
        next.cancel()
        // The bound keeps the test from hanging if the handlers do not run.
        if promise.future.wait(timeout: .seconds(10)) != nil { log.record(index) }
      }
    }
    links[0].cancel()
    #expect(Set(log.events) == Set(links.indices.dropLast()))
  }

  @Test("R13: a thread that blocks in a deep handler runs the callbacks of futures that deferred handlers resolve")
  func blockingInsideDeliveries() {
    let log = Recorder<Int>()
    let sources = (0..<70).map { _ in CancellationTokenSource() }
    let (resolved, done) = (Promise<Int, Never>(), Promise<Int, Never>())
    resolved.future.whenSucceeded(on: .immediate) { done.succeed($0) }
    sources[69].token.register { resolved.succeed(69) }
    for index in sources.indices.dropLast() {
      sources[index].token.register { [next = sources[index + 1]] in
        next.cancel()
        // Only the handler at the maximum depth waits. The bound keeps the test from hanging.
        guard index == 63 else { return }
        if let result = done.future.wait(timeout: .seconds(10)) { log.record(result.get()) }
      }
    }
    // The last callback runs at the maximum depth of deliveries, so the callback of `resolved` is deferred.
    let promises = (0..<16).map { _ in Promise<Int, Never>() }
    for index in promises.indices {
      promises[index].future.whenSucceeded(on: .immediate) { number in
        if index < 15 { promises[index + 1].succeed(number) } else { sources[0].cancel() }
      }
    }
    promises[0].succeed(1)
    #expect(log.events == [69])
  }

  @Test(
    "R1, R15: at every depth, a future is pending while its handlers run, and keeps their result",
    arguments: Chain.withFutures
  )
  func handlersBeforeResult(_ chain: Chain) {
    let log = Recorder<Bool>()
    let links = chain.links(count: 300)
    for (index, link) in links.enumerated() {
      link.onCancel {
        if index + 1 < links.count { links[index + 1].cancel() }
        guard case .promise(let promise) = link else { return }
        log.record(promise.future.peek() == nil)
        if index.isMultiple(of: 3) { promise.succeed(index) }
      }
    }
    links[0].cancel()
    #expect(!log.events.isEmpty && !log.events.contains(false))
    for (index, link) in links.enumerated() {
      guard index.isMultiple(of: 3), case .promise(let promise) = link else {
        #expect(link.isCancelled, "link \(index)")
        continue
      }
      #expect((try? promise.future.peek()?.get()) == index)
    }
  }

  /// The kinds of links in a chain.
  ///
  /// A token in front shifts the depth at which the futures are cancelled.
  enum Chain: CaseIterable {
    case tokens, futures, futuresAfterToken, tokensAndFutures

    static let withFutures = [futures, futuresAfterToken, tokensAndFutures]

    fileprivate func links(count: Int) -> [Link] {
      (0..<count).map { index in
        let isToken =
          switch self {
          case .tokens: true
          case .futures: false
          case .futuresAfterToken: index == 0
          case .tokensAndFutures: index.isMultiple(of: 2)
          }
        return isToken ? .source(CancellationTokenSource()) : .promise(Promise())
      }
    }
  }

  fileprivate enum Link: Sendable {
    case source(CancellationTokenSource)
    case promise(Promise<Int, any Error>)

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
      switch self {
      case .source(let source): source.token.register(handler)
      case .promise(let promise): promise.onCancel(handler)
      }
    }

    func cancel() {
      switch self {
      case .source(let source): source.cancel()
      case .promise(let promise): promise.future.cancel()
      }
    }

    var isCancelled: Bool {
      switch self {
      case .source(let source): source.isCancelled
      case .promise(let promise):
        if case .failure(let error)? = promise.future.peek() { error is CancellationError } else { false }
      }
    }
  }
}
