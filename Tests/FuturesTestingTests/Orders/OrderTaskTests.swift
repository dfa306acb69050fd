import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: tasks")
struct OrderTaskTests {
  @Test("Two unstructured tasks start in both orders, and resume in both")
  func unstructured() async throws {
    let records = try await differentRecords { orders, run in
      for name in ["a", "b"] {
        Task {
          run.record("\(name)1")
          await orders.step(name)
          run.record("\(name)2")
        }
      }
    }
    #expect(
      records == [
        "a1 a2 b1 b2", "a1 b1 a2 b2", "a1 b1 b2 a2", "b1 a1 a2 b2", "b1 a1 b2 a2", "b1 b2 a1 a2",
      ]
    )
  }

  @Test("The task of a future starts before and after other work")
  func taskOfAFuture() async throws {
    let records = try await differentRecords { orders, run in
      Future { run.record("task") }.whenResolved(on: orders.context("a")) { _ in run.record("callback") }
      orders.context("b").submit { run.record("b") }
    }
    #expect(records == ["b task callback", "task b callback", "task callback b"])
  }

  @Test("The children of a task group run in every order")
  func taskGroup() async throws {
    let records = try await differentRecords { _, run in
      await withTaskGroup { group in
        for name in ["a", "b", "c"] { group.addTask { run.record(name) } }
      }
    }
    #expect(records == ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"])
  }

  @Test("Async let runs before and after the rest of the body")
  func asyncLet() async throws {
    let records = try await differentRecords { orders, run in
      async let child: Void = run.record("child")
      await orders.step("step")
      run.record("body")
      await child
    }
    #expect(records == ["body child", "child body"])
  }

  @Test("Calls of a default actor interleave between the calls")
  func actorCalls() async throws {
    let records = try await differentRecords { _, run in
      let cache = Cache()
      await withTaskGroup { group in
        for name in ["a", "b"] {
          group.addTask { await cache.fill(name, run) }
        }
      }
    }
    #expect(records == ["a", "a b", "b", "b a"])
  }

  @Test("Calls of a default actor from unstructured tasks interleave as well")
  func actorCallsOfUnstructuredTasks() async throws {
    let records = try await differentRecords { orders, run in
      let cache = Cache()
      for name in ["a", "b"] {
        Task { await cache.fill(name, run) }
      }
    }
    #expect(records == ["a", "a b", "b", "b a"])
  }

  @Test("A report says that a change between actors is no choice, if tasks have called an actor")
  func changeBetweenActors() async throws {
    let report = try await exploreOrders { orders in
      let cache = Cache()
      Task { await cache.set(1) }
      try await orders.runAll()
    }
    // With a sanitizer, the report also names outside work, which is not observed there.
    #expect(report.description.hasPrefix("1 order; not explored: other work while a task changes between actors"))
    let other = try await exploreOrders { orders in
      Task {}
      try await orders.runAll()
    }
    #expect(!other.description.contains("actors"))
  }

  @Test("Awaiting a future is a point where others can run, and the body is one of them")
  func awaiting() async throws {
    let records = try await differentRecords { orders, run in
      let loaded = Future<String, Never>(on: orders.context("network")) { "loaded" }
      orders.context("screen").submit { run.record("screen") }
      run.record(await loaded.value)
    }
    #expect(records == ["loaded screen", "screen loaded"])
  }

  @Test("Yielding lets other tasks run first")
  func yielding() async throws {
    let records = try await differentRecords { _, run in
      for name in ["a", "b"] {
        Task {
          run.record("\(name)1")
          await Task.yield()
          run.record("\(name)2")
        }
      }
    }
    #expect(records.contains("a1 b1 a2 b2") && records.contains("b1 a1 a2 b2") && records.contains("a1 a2 b1 b2"))
  }

  @Test("A task without suspensions is one move: changes between executors add none")
  func noSpuriousMoves() async throws {
    let report = try await exploreOrders { orders in
      for _ in 1...2 {
        Task {
          await nothing()
          await nothing()
        }
      }
      try await orders.runAll()
    }
    #expect(report.orders == 2)
  }

  @Test("The moves of a failing order name body, tasks, steps and calls of actors")
  func names() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let cache = Cache()
        let task = Task {
          await orders.step("before the call")
          await cache.set(1)
        }
        await task.value
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.order == ["task 1", "before the call", "hop of task 1", "body"])
  }

  @Test("The work of an actor has the name of a task only if it is known which task submits it")
  func workOfAnActor() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let caller = ActorCaller()
        await Task { await caller.startOnOtherActor() }.value
        try await orders.runAll()
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.order == ["task 1", "hop of task 1", "work of an actor", "body"])
  }

  @Test("A task whose only step is in an actor's code has its name in the order")
  func nameInActor() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let caller = ActorCaller()
        await Task(name: "loader") { await caller.step(orders) }.value
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.order.contains("hop of loader") == true, "\(failure?.order ?? [])")
  }

  @Test("A step with the name of the explorer's own moves keeps its name")
  func ownNames() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        for name in ["task", "body", "hop"] { await orders.step(name) }
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.order == ["task", "body", "hop"])
  }

  @Test("Task-local values of the caller reach the body, its tasks and its callbacks")
  func taskLocalValues() async throws {
    try await Name.$current.withValue("test") {
      let records = try await differentRecords { orders, run in
        run.record(Name.current)
        Task { run.record(Name.current) }
        orders.context("a").submit { run.record(Name.current) }
      }
      #expect(records == ["test test test"])
    }
  }

  @Test("An actor can isolate the caller and the body")
  func isolatedToAnActor() async throws {
    let counter = Counter()
    try await counter.explore()
    #expect(await counter.runs >= 2)
  }
}

@globalActor private actor OtherActor {
  static let shared = OtherActor()
}

private actor ActorCaller {
  func startOnOtherActor() { Task { @OtherActor in } }

  func step(_ orders: Orders) async { await orders.step("in the actor") }
}

actor Cache {
  private(set) var value: Int?
  func set(_ value: Int) { self.value = value }

  /// Sets a missing value by two calls, so that another task can come between them.
  nonisolated func fill(_ name: String, _ run: Recorder<String>) async {
    guard await value == nil else { return }
    run.record(name)
    await set(1)
  }
}

private actor Counter {
  private(set) var runs = 0

  func explore() async throws {
    try await exploreOrders { orders in
      for name in ["a", "b"] { orders.context(name).submit {} }
      try await orders.runAll()
      runs += 1
    }
  }
}

private enum Name {
  @TaskLocal static var current = "none"
}

@concurrent private func nothing() async {}
