import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("VirtualQueue of a ManualContext")
struct VirtualQueueTests {
  private let manual = ManualContext()
  private let log = Recorder<String>()

  @Test("A serial queue runs its work in the order of submission, when the test says so")
  func serial() {
    let queue = manual.queue("a")
    for number in 1...3 { queue.async { [log] in log.record("\(number)") } }
    #expect(log.events.isEmpty)
    #expect(manual.pendingCount == 3)
    manual.runAll()
    #expect(log.joined == "1 2 3")
  }

  @Test("asyncAfter fires in virtual time, and a time in the past is ready at once")
  func asyncAfter() {
    let queue = manual.queue("a")
    queue.asyncAfter(deadline: .now() + 2) { [log] in log.record("2 s") }
    queue.asyncAfter(deadline: .now() + .milliseconds(500)) { [log] in log.record("0.5 s") }
    queue.asyncAfter(deadline: .now() - 1) { [log] in log.record("past") }
    queue.asyncAfter(deadline: .distantFuture) { [log] in log.record("never") }
    manual.runAll()
    #expect(log.joined == "past")
    manual.advance(by: .milliseconds(500))
    #expect(log.joined == "past 0.5 s")
    manual.advance(by: .seconds(10))
    #expect(log.joined == "past 0.5 s 2 s")
  }

  @Test("sync runs the earlier work, and not what that submits, before its own")
  func sync() throws {
    let queue = manual.queue("a")
    queue.async { [log] in
      log.record("1")
      queue.async { log.record("3") }
    }
    let value = queue.sync { [log] in
      log.record("2")
      return 5
    }
    #expect(value == 5)
    #expect(log.joined == "1 2")
    #expect(manual.pendingCount == 1)
    #expect(throws: Unexpected.self) { try queue.sync { throw Unexpected(description: "") } }
    #expect(log.joined == "1 2 3")
    #expect(manual.pendingCount == 0)
  }

  @Test("sync leaves the work of other queues where it is")
  func syncAmongQueues() {
    let (one, other) = (manual.queue("a"), manual.queue("b"))
    other.async { [log] in log.record("b") }
    one.async { [log] in log.record("a") }
    one.sync {}
    #expect(log.joined == "a")
    manual.runAll()
    #expect(log.joined == "a b")
  }

  @Test("A barrier of a concurrent queue waits for the earlier work, and holds the later work back")
  func barrier() {
    let queue = manual.queue("a", attributes: .concurrent)
    for number in 1...2 { queue.async { [log] in log.record("\(number)") } }
    queue.async(flags: .barrier) { [log] in log.record("barrier") }
    queue.async { [log] in log.record("3") }
    #expect(manual.pendingCount == 2)
    manual.runAll()
    #expect(log.joined == "1 2 barrier 3")
  }

  @Test("sync of a concurrent queue waits for a barrier only; with .barrier it waits for all")
  func concurrentSync() {
    let queue = manual.queue("a", attributes: .concurrent)
    queue.async { [log] in log.record("1") }
    queue.sync { log.record("2") }
    #expect(log.joined == "2")
    queue.async(flags: .barrier) { [log] in log.record("barrier") }
    queue.async { [log] in log.record("3") }
    queue.sync { log.record("4") }
    #expect(log.joined == "2 1 barrier 4")
    queue.sync(flags: .barrier) { log.record("5") }
    #expect(log.joined == "2 1 barrier 4 3 5")
  }

  @Test("A work item of Dispatch runs, unless it is cancelled, and enters its group")
  func itemsOfDispatch() {
    let queue = manual.queue("a")
    let items = ["1", "2"].map { name in DispatchWorkItem { [log] in log.record(name) } }
    for item in items { queue.asyncAfter(deadline: .now() + 1, execute: item) }
    items[0].cancel()
    let group = DispatchGroup()
    queue.async(group: group) { [log] in log.record("3") }
    #expect(group.wait(timeout: .now()) == .timedOut)
    manual.advance(by: .seconds(1))
    #expect(log.joined == "3 2")
    #expect(group.wait(timeout: .now()) == .success)
  }

  @Test("A work item notifies after it has run, at once if it has run, and also after a cancelled turn")
  func notify() {
    let (queue, other) = (manual.queue("a"), manual.queue("b"))
    let item = VirtualWorkItem { [log] in log.record("item") }
    item.notify(queue: other) { [log] in log.record("notified") }
    queue.async(execute: item)
    manual.runAll()
    item.notify(queue: other) { [log] in log.record("late") }
    manual.runAll()
    #expect(log.joined == "item notified late")

    let cancelled = VirtualWorkItem { [log] in log.record("cancelled") }
    cancelled.notify(queue: other) { [log] in log.record("end") }
    queue.async(execute: cancelled)
    cancelled.cancel()
    #expect(cancelled.isCancelled)
    manual.runAll()
    #expect(log.joined == "item notified late end")
  }

  @Test("wait runs a work item and the work before it, and gives up if its time has not come")
  func wait() {
    let queue = manual.queue("a")
    let item = VirtualWorkItem { [log] in log.record("item") }
    #expect(item.wait(timeout: .distantFuture) == .timedOut)
    queue.async { [log] in log.record("before") }
    queue.async(execute: item)
    queue.async { [log] in log.record("after") }
    item.wait()
    #expect(log.joined == "before item")
    #expect(item.wait(timeout: .now()) == .success)

    let late = VirtualWorkItem {}
    queue.asyncAfter(deadline: .now() + 1, execute: late)
    #expect(late.wait(timeout: .distantFuture) == .timedOut)
    manual.advance(by: .seconds(1))
    #expect(late.wait(timeout: .now()) == .success)
  }

  @Test("A manual context that goes away releases the work of its queues")
  func release() {
    var own: ManualContext? = ManualContext()
    let queue = own?.queue("a")
    weak var object: Recorder<String>?
    do {
      let log = Recorder<String>()
      object = log
      queue?.async { log.record("never") }
    }
    #expect(object != nil)
    own = nil
    #expect(object == nil)
    withExtendedLifetime(queue) {}
  }

  @Test("A deadlock traps with a sentence, as in Dispatch", .unlessSanitized)
  func deadlock() async {
    await #expect(processExitsWith: .failure) {
      let manual = ManualContext()
      let queue = manual.queue("a")
      queue.async { queue.sync {} }
      manual.runAll()
    }
  }
}
