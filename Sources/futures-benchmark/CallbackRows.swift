import Futures

extension Variant {
  /// C1: what it costs to say that a value is already there, and to read it.
  ///
  /// Making and reading are out of line, so that the compiler cannot see through both at once.
  @Sendable
  static func resolvedFuture(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions { Sink.add(peek(makeResolved(index))) }
    }
    return [
      harness.measure(
        "C1" + suffix,
        "make a resolved future, read it",
        ours: ours,
        budget: [.timesBaseline(0.3), .allocations(0)]
      )
    ]
  }

  @inline(never)
  private static func makeResolved(_ index: Int) -> Future<Value, Failure> {
    .succeeded(Value.make(index))
  }

  @inline(never)
  private static func peek(_ future: Future<Value, Failure>) -> Int {
    if case .success(let value) = future.peek() { value.word } else { 0 }
  }

  /// C2: the commonest life of a promise: made, observed by one callback, resolved, released.
  ///
  /// The callback captures one word, and its context is in the count.
  @Sendable
  static func callbackThenSuccess(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
        promise.succeed(Value.make(index))
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        promise.future.whenResolved { Sink.add($0, plus: index) }
        promise.succeed(Value.make(index))
      }
    }
    return [
      harness.measure(
        "C2" + suffix,
        "promise, future, attach 1 callback, succeed",
        ours: ours,
        floors: [Contender("lock and slot by hand", floor)],
        budget: [.timesBaseline(7), .allocations(4)]
      )
    ]
  }

  /// C3: the same with the callback attached too late, so that it runs at once.
  @Sendable
  static func successThenCallback(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        promise.succeed(Value.make(index))
        promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        promise.succeed(Value.make(index))
        promise.future.whenResolved { Sink.add($0, plus: index) }
      }
    }
    return [
      harness.measure(
        "C3" + suffix,
        "promise, succeed, then attach 1 callback",
        ours: ours,
        floors: [Contender("lock and slot by hand", floor)],
        budget: [.timesBaseline(5), .allocations(3)]
      )
    ]
  }

  /// C6: many callbacks on one future, per callback: attaching, running and releasing each of them.
  @Sendable
  static func manyCallbacks(_ harness: Harness) -> [Row] {
    [("1,000", 1_000), ("100,000", 100_000)].map { name, callbacks in
      let ours = Body.synchronous { repetitions in
        for index in 0..<repetitions {
          let promise = makePromise()
          let future = promise.future
          for callback in 0..<callbacks { future.whenResolved(on: .immediate) { Sink.add($0, plus: callback) } }
          promise.succeed(Value.make(index))
        }
      }
      let floor = Body.synchronous { repetitions in
        for index in 0..<repetitions {
          let promise = makeHandPromise()
          for callback in 0..<callbacks { promise.future.whenResolved { Sink.add($0, plus: callback) } }
          promise.succeed(Value.make(index))
        }
      }
      return harness.measure(
        "C6 \(name)" + suffix,
        "\(name) callbacks on one future, per callback",
        parts: callbacks,
        ours: ours,
        floors: [Contender("lock and slots by hand", floor)],
        budget: [.timesBaseline(8), .allocations(3)]
      )
    }
  }
}
