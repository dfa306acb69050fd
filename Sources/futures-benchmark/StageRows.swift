import Futures

extension Rows {
  /// The number of stages of each chain.
  private static var stages: Int { 10 }

  /// C4: attaches ten `map` stages to a pending future, and resolves it.
  ///
  /// Two allocations for a stage: itself, and the context of its closure, which captures one word, as closures in programs
  /// do. The cost of a stage also includes a tenth of the promise and its state.
  @Sendable
  static func mapStages(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map { $0 &+ index } }
        promise.succeed(index)
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map { $0 &+ index } }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C4",
      "10 map stages on a pending future, each closure captures a word, per stage",
      parts: stages,
      ours: ours,
      floor: Contender("lock and slot by hand", floor),
      budget: [.timesFloor(0.63), .allocations(2.2)]
    )
  }

  /// C4v: C4 with a function value in place of the closure literals.
  ///
  /// Generic code stores the value, so the compiler wraps it anew for each stage. A literal allocates its context instead.
  @Sendable
  static func mapStagesOfValues(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let transform = makeTransform(index)
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map(transform) }
        promise.succeed(index)
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let transform = makeTransform(index)
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map(transform) }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C4v",
      "10 map stages on a pending future, each with the same function value, per stage",
      parts: stages,
      ours: ours,
      floor: Contender("lock and slot by hand", floor),
      budget: [.timesFloor(0.75), .allocations(2.3)]
    )
  }

  /// Returns a function value that the compiler cannot inline.
  @inline(never)
  private static func makeTransform(_ index: Int) -> @Sendable (Value) -> Value { { $0 &+ index } }

  /// C5: ten `flatMap` stages on a pending future; each closure returns a resolved future.
  @Sendable
  static func flatMapStagesToResolved(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.flatMap { .succeeded($0 &+ index) } }
        promise.succeed(index)
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages { future = future.flatMap { HandFuture(succeeded: $0 &+ index) } }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C5",
      "10 flatMap stages, each to a resolved future, each closure captures a word, per stage",
      parts: stages,
      ours: ours,
      floor: Contender("lock and slot by hand", floor),
      budget: [.timesFloor(0.54), .allocations(2.2)]
    )
  }

  /// C5b: ten `flatMap` stages; each closure returns a pending future, which the loop resolves afterwards.
  ///
  /// The cost includes the closures' work: they make the inner promises, and pass them to the loop through a slot. Each closure
  /// captures the slot and an integer.
  @Sendable
  static func flatMapStagesToPending(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      let inner = Slot<Promise<Value, Failure>>()
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages {
          future = future.flatMap {
            Sink.add($0 &+ index)
            return inner.put(makePromise()).future
          }
        }
        promise.succeed(index)
        for _ in 0..<stages { inner.take()?.succeed(index) }
      }
    }
    let floor = Body.synchronous { repetitions in
      let inner = Slot<HandPromise>()
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages {
          future = future.flatMap {
            Sink.add($0 &+ index)
            return inner.put(makeHandPromise()).future
          }
        }
        promise.succeed(index)
        for _ in 0..<stages { inner.take()?.succeed(index) }
      }
    }
    return harness.measure(
      "C5b",
      "10 flatMap stages, each to a pending future made there and resolved later, per stage",
      parts: stages,
      ours: ours,
      floor: Contender("lock and slot by hand", floor),
      budget: [.timesFloor(0.88), .allocations(4.2)]
    )
  }
}

/// Passes a promise from the stage that makes it to the loop that resolves it.
private final class Slot<Content: AnyObject & Sendable>: Sendable {
  private let content = Mutex<Content?>(nil)

  /// Stores and returns a promise.
  func put(_ new: Content) -> Content {
    content.withLock { $0 = new }
    return new
  }

  func take() -> Content? {
    content.withLock { content in
      defer { content = nil }
      return content
    }
  }
}
