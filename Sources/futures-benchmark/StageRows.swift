import Futures
import Synchronization

extension Variant {
  /// How many stages each of these chains has.
  private static var stages: Int { 10 }

  /// C4: ten `map` stages on a pending future, then the value runs through them.
  ///
  /// Each stage's closure captures one word, as closures in programs do, so its own context is in the count.
  /// The chain ends in the future that the last stage returned; making the promise is in, divided by ten.
  @Sendable
  static func mapStages(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map { Value.make($0.word &+ index) } }
        promise.succeed(Value.make(index))
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map { Value.make($0.word &+ index) } }
        promise.succeed(Value.make(index))
      }
    }
    return [
      harness.measure(
        "C4" + suffix,
        "10 map stages on a pending future, each closure captures a word, per stage",
        parts: stages,
        ours: ours,
        floors: [Contender("lock and slot by hand", floor)],
        budget: [.timesBaseline(8), .allocations(4)]
      )
    ]
  }

  /// C5: ten `flatMap` stages on a pending future, each to a future that is resolved when it is returned.
  @Sendable
  static func flatMapStagesToResolved(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.flatMap { .succeeded(Value.make($0.word &+ index)) } }
        promise.succeed(Value.make(index))
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages { future = future.flatMap { Hand(succeeded: Value.make($0.word &+ index)) } }
        promise.succeed(Value.make(index))
      }
    }
    return [
      harness.measure(
        "C5" + suffix,
        "10 flatMap stages, each to a resolved future, each closure captures a word, per stage",
        parts: stages,
        ours: ours,
        floors: [Contender("lock and slot by hand", floor)],
        budget: [.timesBaseline(12), .allocations(5)]
      )
    ]
  }

  /// C5b: the same, each to a future that is pending when it is returned and resolved afterwards.
  ///
  /// The inner promises are made by the stages and handed out through one slot, and that is in the count. The closures
  /// capture the slot and an integer.
  @Sendable
  static func flatMapStagesToPending(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      let inner = Slot<Promise<Value, Failure>>()
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages {
          future = future.flatMap {
            Sink.add($0.word &+ index)
            return inner.put(makePromise()).future
          }
        }
        promise.succeed(Value.make(index))
        for _ in 0..<stages { inner.take()?.succeed(Value.make(index)) }
      }
    }
    let floor = Body.synchronous { repetitions in
      let inner = Slot<HandPromise<Hand>>()
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        var future = promise.future
        for _ in 0..<stages {
          future = future.flatMap {
            Sink.add($0.word &+ index)
            return inner.put(makeHandPromise()).future
          }
        }
        promise.succeed(Value.make(index))
        for _ in 0..<stages { inner.take()?.succeed(Value.make(index)) }
      }
    }
    return [
      harness.measure(
        "C5b" + suffix,
        "10 flatMap stages, each to a pending future made there and resolved later, per stage",
        parts: stages,
        ours: ours,
        floors: [Contender("lock and slot by hand", floor)],
        budget: [.timesBaseline(16), .allocations(7)]
      )
    ]
  }
}

/// Hands one object from the stage that made it to the loop that resolves it.
private final class Slot<Content: AnyObject & Sendable>: Sendable {
  private let content = Mutex<Content?>(nil)

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
