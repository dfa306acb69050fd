import Dispatch
import Futures
import FuturesTesting
import Testing

@Suite("VirtualQueue of a ManualContext")
struct VirtualQueueTests {
  private let manual = ManualContext()
  private let record = RunRecord()

  @Test("A serial queue runs its work in the order of submission, when the test says so")
  func serial() {
    let queue = manual.queue("a")
    for number in 1...3 { queue.async { [record] in record.add("\(number)") } }
    #expect(record.all.isEmpty)
    #expect(manual.pendingCount == 3)
    manual.runAll()
    #expect(record.joined == "1 2 3")
  }

  @Test("asyncAfter fires in virtual time, and a time in the past is ready at once")
  func asyncAfter() {
    let queue = manual.queue("a")
    queue.asyncAfter(deadline: .now() + 2) { [record] in record.add("2 s") }
    queue.asyncAfter(deadline: .now() + .milliseconds(500)) { [record] in record.add("0.5 s") }
    queue.asyncAfter(deadline: .now() - 1) { [record] in record.add("past") }
    queue.asyncAfter(deadline: .distantFuture) { [record] in record.add("never") }
    manual.runAll()
    #expect(record.joined == "past")
    manual.advance(by: .milliseconds(500))
    #expect(record.joined == "past 0.5 s")
    manual.advance(by: .seconds(10))
    #expect(record.joined == "past 0.5 s 2 s")
  }

  @Test("sync runs the earlier work, and not what that submits, before its own")
  func sync() throws {
    let queue = manual.queue("a")
    queue.async { [record] in
      record.add("1")
      queue.async { record.add("3") }
    }
    let value = queue.sync { [record] in
      record.add("2")
      return 5
    }
    #expect(value == 5)
    #expect(record.joined == "1 2")
    #expect(manual.pendingCount == 1)
    #expect(throws: Unexpected.self) { try queue.sync { throw Unexpected(description: "") } }
    #expect(record.joined == "1 2 3")
    #expect(manual.pendingCount == 0)
  }

  @Test("sync leaves the work of other queues where it is")
  func syncAmongQueues() {
    let (one, other) = (manual.queue("a"), manual.queue("b"))
    other.async { [record] in record.add("b") }
    one.async { [record] in record.add("a") }
    one.sync {}
    #expect(record.joined == "a")
    manual.runAll()
    #expect(record.joined == "a b")
  }

  @Test("A barrier of a concurrent queue waits for the earlier work, and holds the later work back")
  func barrier() {
    let queue = manual.queue("a", attributes: .concurrent)
    for number in 1...2 { queue.async { [record] in record.add("\(number)") } }
    queue.async(flags: .barrier) { [record] in record.add("barrier") }
    queue.async { [record] in record.add("3") }
    #expect(manual.pendingCount == 2)
    manual.runAll()
    #expect(record.joined == "1 2 barrier 3")
  }

  @Test("sync of a concurrent queue waits for a barrier only; with .barrier it waits for all")
  func concurrentSync() {
    let queue = manual.queue("a", attributes: .concurrent)
    queue.async { [record] in record.add("1") }
    queue.sync { record.add("2") }
    #expect(record.joined == "2")
    queue.async(flags: .barrier) { [record] in record.add("barrier") }
    queue.async { [record] in record.add("3") }
    queue.sync { record.add("4") }
    #expect(record.joined == "2 1 barrier 4")
    queue.sync(flags: .barrier) { record.add("5") }
    #expect(record.joined == "2 1 barrier 4 3 5")
  }

  @Test("A work item of Dispatch runs, unless it is cancelled, and enters its group")
  func itemsOfDispatch() {
    let queue = manual.queue("a")
    let items = ["1", "2"].map { name in DispatchWorkItem { [record] in record.add(name) } }
    for item in items { queue.asyncAfter(deadline: .now() + 1, execute: item) }
    items[0].cancel()
    let group = DispatchGroup()
    queue.async(group: group) { [record] in record.add("3") }
    #expect(group.wait(timeout: .now()) == .timedOut)
    manual.advance(by: .seconds(1))
    #expect(record.joined == "3 2")
    #expect(group.wait(timeout: .now()) == .success)
  }

  @Test("A work item notifies after it has run, at once if it has run, and also after a cancelled turn")
  func notify() {
    let (queue, other) = (manual.queue("a"), manual.queue("b"))
    let item = VirtualWorkItem { [record] in record.add("item") }
    item.notify(queue: other) { [record] in record.add("notified") }
    queue.async(execute: item)
    manual.runAll()
    item.notify(queue: other) { [record] in record.add("late") }
    manual.runAll()
    #expect(record.joined == "item notified late")

    let cancelled = VirtualWorkItem { [record] in record.add("cancelled") }
    cancelled.notify(queue: other) { [record] in record.add("end") }
    queue.async(execute: cancelled)
    cancelled.cancel()
    #expect(cancelled.isCancelled)
    manual.runAll()
    #expect(record.joined == "item notified late end")
  }

  @Test("wait runs a work item and the work before it, and gives up if its time has not come")
  func wait() {
    let queue = manual.queue("a")
    let item = VirtualWorkItem { [record] in record.add("item") }
    #expect(item.wait(timeout: .distantFuture) == .timedOut)
    queue.async { [record] in record.add("before") }
    queue.async(execute: item)
    queue.async { [record] in record.add("after") }
    item.wait()
    #expect(record.joined == "before item")
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
    weak var object: RunRecord?
    do {
      let record = RunRecord()
      object = record
      queue?.async { record.add("never") }
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
