internal import TestSupport
internal import Testing

@Suite
struct TaskIdentityTests {
  #if ASAN
    /// AddressSanitizer keeps addresses from being used again.
    private static let mayRepeat = false
  #else
    private static let mayRepeat = true
  #endif

  @Test(
    "R16: a caller whose task has ended stays, although the task of the shared work has got the address of that task",
    .enabled(if: mayRepeat)
  )
  func addressOfEndedTask() async throws {
    for _ in 0..<10_000 {
      let pending = PendingPromises<Int, Int, any Error>()
      let work = Promise<Int, any Error>()
      let first = pending.future(sharing: 1) { work.future }
      let (address, other) = (Unexplored(UInt(0)), Unexplored(Future<Int, any Error>.never))
      await Task.detached {
        address.withLock { $0 = withUnsafeCurrentTask { unsafeBitCast($0, to: UInt.self) } }
        other.withLock { $0 = pending.future(sharing: 1) { .never } }
      }.value
      let task = Task.detached {}
      guard unsafeBitCast(task, to: UInt.self) == address.withLock(\.self) else { continue }
      work.setProducer(task: task)
      first.cancel()
      #expect(other.withLock(\.self).peek() == nil)
      work.succeed(7)
      #expect(try other.withLock(\.self).peek()?.get() == 7)
      return
    }
    Issue.record("No task got the address of an ended one.")
  }

  @Test("The task of shared work is known by its identity when it asks for its own key")
  func ownTask() async throws {
    let pending = PendingPromises<Int, Int, any Error>()
    let work = Promise<Int, any Error>()
    let first = pending.future(sharing: 1) { work.future }
    let own = Unexplored(Future<Int, any Error>.never)
    let task = Task.detached { own.withLock { $0 = pending.future(sharing: 1) { .never } } }
    await task.value
    work.setProducer(task: task)
    first.cancel()
    #expect(throws: CancellationError.self) { try own.withLock(\.self).peek()?.get() }
    #expect(work.isResolved)
    #expect(pending.count == 0)
  }
}
