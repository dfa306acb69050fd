internal import TestSupport
internal import Testing

@Suite
struct HandingOnTests {
  /// The callbacks of a future that a stage resolves, by number.
  private struct Callbacks: Sendable {
    let future: Future<Int, any Error>
    let log = Unexplored<[Int]>([])

    func attach(_ numbers: ClosedRange<Int>) {
      for number in numbers { future.whenResolved(on: .immediate) { [log] _ in log.withLock { $0.append(number) } } }
    }
  }

  @Test(
    "R2, R28: a call runs all callbacks of its thread, in order, also of a stage that is due; those of other threads are handed on",
    arguments: [false, true]
  )
  func stageThatIsDue(attachesOwnAtEnd: Bool) {
    onThread {
      let handedOn = Unexplored<[() -> Void]>([])
      let previous = Trampoline.current.setElsewhere { work in handedOn.withLock { $0.append(work) } }
      let promise = Promise<Int, any Error>()
      let callbacks = Callbacks(future: promise.future.map { $0 })
      callbacks.attach(0...0)
      callbacks.future.whenResolved(on: .immediate) { _ in
        onThread { callbacks.attach(4...8) }
        if attachesOwnAtEnd { callbacks.attach(9...9) }
      }
      // The stage has resolved its future, whose callbacks run after this one.
      promise.future.whenResolved(on: .immediate) { _ in callbacks.attach(1...3) }
      promise.succeed(1)
      // One callback of another thread runs after the last own one.
      let all = Array(0...(attachesOwnAtEnd ? 9 : 8))
      #expect(callbacks.log.withLock(\.self) == (attachesOwnAtEnd ? all : Array(0...4)))
      #expect(handedOn.withLock(\.count) == (attachesOwnAtEnd ? 0 : 1))
      // The thread that gets the rest hands nothing on again.
      for work in handedOn.withLock(\.self) { work() }
      #expect(callbacks.log.withLock(\.self) == all)
      #expect(handedOn.withLock(\.count) == (attachesOwnAtEnd ? 0 : 1))
      _ = Trampoline.current.setElsewhere(previous)
    }
  }
}
