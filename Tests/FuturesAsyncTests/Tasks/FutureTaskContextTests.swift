internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R23: the context that the task of a future inherits", .timeLimit(.minutes(20)))
struct FutureTaskContextTests {
  // MARK: - The actor

  @MainActor
  @Test("R23: a closure that is written on the main actor runs there")
  func closureOnMainActorStaysThere() async {
    var count = 0
    let inheriting = Future {
      count += 1
      return isReallyOn(MainActor.shared)
    }
    let immediate = Future.immediate {
      count += 1
      return isReallyOn(MainActor.shared)
    }
    #expect(await inheriting.value)
    #expect(await immediate.value)
    #expect(count == 2)
    #expect(await Future.detached { isOnMainQueue }.value == false)
  }

  @Test("R23: a closure with `@MainActor` runs on the main actor, from anywhere")
  func annotatedClosureRunsOnMainActor() async {
    #expect(await Future { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future.detached { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future.immediate { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future { isOnMainQueue }.value == false)
  }

  private actor Account {
    var balance = 0

    func deposit() -> [Future<Int, Never>] {
      [
        Future {
          preconditionIsolated()
          balance += 1
          return balance
        },
        .immediate {
          preconditionIsolated()
          balance += 10
          return balance
        },
      ]
    }
  }

  @Test("R23: a closure that is written in a method of an actor runs on that actor")
  func actorMethod() async {
    let futures = await Account().deposit()
    // The immediate future ran during the method, the other future after it.
    #expect(futures[1].peek() == .success(10))
    #expect(await futures[0].value == 11)
  }

  @Test("R23: after its own awaits the closure is still on its actor", arguments: Home.allCases)
  func afterAwaits(home: Home) async {
    let gate = Gate()
    let futures = await run(on: home.make()) { actor in
      let work: @Sendable (isolated any Actor) async throws -> Bool = { actor in
        guard isReallyOn(actor) else { return false }
        await gate.pass()
        guard isReallyOn(actor) else { return false }
        _ = try? await Future<Int, any Error>.detached { throw TestError(1) }.value
        return isReallyOn(actor)
      }
      return [
        Future { try await work(actor) },
        Future.immediate { try await work(actor) },
      ]
    }
    gate.open()
    for future in futures { #expect(await (try? future.value) == true) }
  }

  @Test("R23: tasks of futures and native ones start on their actor in order of creation", arguments: Home.allCases)
  func tasksStartInOrderOfCreation(home: Home) async {
    let recorder = Recorder<Int>()
    await run(on: home.make()) { actor in
      var tasks: [Task<Void, Never>] = []
      var futures: [Future<Void, Never>] = []
      var throwing: [Future<Void, any Error>] = []
      for number in stride(from: 0, to: 400, by: 4) {
        tasks.append(
          Task {
            _ = actor
            recorder.record(number)
          }
        )
        futures.append(
          Future {
            _ = actor
            recorder.record(number + 1)
          }
        )
        futures.append(
          Future(name: "named") {
            _ = actor
            recorder.record(number + 2)
          }
        )
        throwing.append(
          Future<Void, any Error> { () async throws in
            _ = actor
            recorder.record(number + 3)
          }
        )
      }
      for task in tasks { await task.value }
      for future in futures { await future.value }
      for future in throwing { _ = await future.result }
    }
    #expect(recorder.events == Array(0..<400))
  }

  @Test("R23: a detached task runs on no actor, even if an actor made it", arguments: Home.allCases)
  func detachedTaskRunsOnNoActor(home: Home) async {
    let isNowhere = await run(on: home.make()) { actor in
      let threadActor = actor as? ThreadActor
      return await Future.detached {
        #isolation == nil && !isOnMainQueue && threadActor?.executor.isCurrent != true
      }.value
    }
    #expect(isNowhere)
  }

  // MARK: - Task-locals and priority

  @Test("R23: `Future { }` and `immediate` inherit the task-locals, `detached` does not", arguments: Home.allCases)
  func taskLocals(home: Home) async {
    let names = await Local.$name.withValue("caller") {
      await run(on: home.make()) { actor in
        let inheriting = Future {
          _ = actor
          return Local.name
        }
        let immediate = Future.immediate {
          _ = actor
          return Local.name
        }
        let detached = Future.detached { Local.name }
        return await [inheriting.value, immediate.value, detached.value]
      }
    }
    #expect(names == ["caller", "caller", "none"])
  }

  @Test("R23: `Future { }` and `immediate` inherit the priority, `detached` does not")
  func priorityIsInherited() async {
    // An inbox delivers the result, because an await of the task itself would raise its priority.
    let inbox = Inbox<[TaskPriority?]>()
    Task.detached(priority: .background) {
      let inheriting = Inbox<TaskPriority?>()
      _ = Future { inheriting.send(Task.basePriority) }
      let immediate = Inbox<TaskPriority?>()
      _ = Future.immediate { immediate.send(Task.basePriority) }
      let detached = Inbox<TaskPriority?>()
      _ = Future.detached { detached.send(Task.basePriority) }
      inbox.send([await inheriting.next() ?? nil, await immediate.next() ?? nil, await detached.next() ?? nil])
    }
    #expect(await inbox.next() == [.background, .background, .medium])
  }

  @Test("R23: a given priority replaces the inherited one")
  func givenPriority() async {
    let inbox = Inbox<TaskPriority?>()
    _ = Future(priority: .low) { inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .low)
    _ = Future(name: "named", priority: .low) { inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .low)
    _ = Future.detached(priority: .background) { inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .background)
    _ = Future.detached(name: "named", priority: .background) { inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .background)
    _ = Future { @MainActor in inbox.send(Task.basePriority) }
    #expect(await inbox.next() == Task.basePriority)
    _ = Future(priority: .low) { @MainActor in inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .low)
    _ = Future.immediate(priority: .low) { inbox.send(Task.basePriority) }
    #expect(await inbox.next() == .low)
  }

  // MARK: - Immediate

  @Test("R23: an immediate task that never suspends has resolved its future", arguments: Home.allCases)
  func immediateWithoutSuspension(home: Home) async {
    let result = await run(on: home.make()) { actor in
      Future.immediate {
        _ = actor
        return isReallyOn(actor)
      }.peek()
    }
    #expect(result == .success(true))
    #expect(Future.immediate { 1 }.peek() == .success(1))
    #expect(Future<Int, any Error>.immediate { throw TestError(1) }.isResolved)
  }

  @Test("R23: an immediate task runs up to its first suspension before the caller continues", arguments: Home.allCases)
  func immediateWithSuspension(home: Home) async {
    let gate = Gate()
    let recorder = Recorder<String>()
    let future = await run(on: home.make()) { actor in
      let future = Future.immediate {
        _ = actor
        recorder.record("started")
        await gate.pass()
        recorder.record("ended")
      }
      recorder.record(future.isResolved ? "resolved" : "returned")
      return future
    }
    #expect(recorder.events == ["started", "returned"])
    gate.open()
    await future.value
    #expect(recorder.events == ["started", "returned", "ended"])
  }

  @Test("R23: an immediate task for another actor starts on that actor instead of the caller's")
  func immediateElsewhere() async {
    let actor = ThreadActor()
    let gate = Gate()
    let recorder = Recorder<String>()
    let future = await run(on: PlainActor()) { _ in
      let future = Future.immediate { await run(on: actor) { actor in isReallyOn(actor) } }
      let elsewhere = Future.immediate { @MainActor in
        await gate.pass()
        recorder.record("ran")
        return isReallyOn(MainActor.shared)
      }
      recorder.record("returned")
      gate.open()
      #expect(await elsewhere.value)
      return future
    }
    #expect(await future.value)
    #expect(recorder.events == ["returned", "ran"])
  }
}
