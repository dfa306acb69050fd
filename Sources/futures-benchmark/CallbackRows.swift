import Futures

extension Rows {
  /// C1: makes a resolved future, and reads it.
  ///
  /// Both steps are out of line, so that the compiler cannot combine them.
  @Sendable
  static func resolvedFuture(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions { Sink.add(peek(makeResolved(index))) }
    }
    return harness.measure(
      "C1",
      "make a resolved future, read it",
      ours: ours,
      budget: [.allocations(0)]
    )
  }

  @inline(never)
  private static func makeResolved(_ index: Int) -> Future<Value, Failure> {
    .succeeded(index)
  }

  @inline(never)
  private static func peek(_ future: Future<Value, Failure>) -> Int {
    if case .success(let value) = future.peek() { value } else { 0 }
  }

  /// C2: makes a promise, attaches one callback, resolves and releases the promise.
  ///
  /// Three allocations: the promise, its state, and the context of the callback, which captures one word.
  @Sendable
  static func callbackThenSuccess(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C2",
      "promise, future, attach 1 callback, succeed",
      ours: ours,
      floor: callbackThenSuccessByHand,
      budget: [.timesFloor(1), .allocations(3)]
    )
  }

  /// C2b: C2 with `whenSucceeded`, the usual form in user code.
  @Sendable
  static func valueCallbackThenSuccess(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        promise.future.whenSucceeded(on: .immediate) { Sink.add($0 &+ index) }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C2b",
      "promise, future, attach 1 callback of the value, succeed",
      ours: ours,
      floor: callbackThenSuccessByHand,
      budget: [.timesFloor(1), .allocations(3)]
    )
  }

  /// The floor of C2 and C2b.
  private static var callbackThenSuccessByHand: Contender {
    Contender(
      "lock and slot by hand",
      Body.synchronous { repetitions in
        for index in 0..<repetitions {
          let promise = makeHandPromise()
          promise.future.whenResolved { Sink.add($0, plus: index) }
          promise.succeed(index)
        }
      }
    )
  }

  /// C3: attaches the callback after the success, so that it runs at once.
  @Sendable
  static func successThenCallback(_ harness: Harness) -> Row {
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        promise.succeed(index)
        promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makeHandPromise()
        promise.succeed(index)
        promise.future.whenResolved { Sink.add($0, plus: index) }
      }
    }
    return harness.measure(
      "C3",
      "promise, succeed, then attach 1 callback",
      ours: ours,
      floor: Contender("lock and slot by hand", floor),
      budget: [.timesFloor(1.04), .allocations(3)]
    )
  }

  /// C6: many callbacks on one future: attaches, runs and releases each of them.
  @Sendable
  static func manyCallbacks(_ harness: Harness) -> [Row] {
    [("1,000", 1_000), ("100,000", 100_000)].map { name, callbacks in
      let floor = Body.synchronous { repetitions in
        for index in 0..<repetitions {
          let promise = makeHandPromise()
          for callback in 0..<callbacks { promise.future.whenResolved { Sink.add($0, plus: callback) } }
          promise.succeed(index)
        }
      }
      return harness.measure(
        "C6 \(name)",
        "\(name) callbacks of the value on one future, per callback",
        parts: callbacks,
        ours: callbacksOfOneFuture(callbacks),
        floor: Contender("lock and slots by hand", floor),
        budget: [.timesFloor(callbacks == 1_000 ? 0.93 : 0.88), .allocations(2)]
      )
    }
  }

  /// Attaches, runs and releases callbacks of one future.
  static func callbacksOfOneFuture(_ callbacks: Int) -> Body {
    .synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        let future = promise.future
        for callback in 0..<callbacks { future.whenSucceeded(on: .immediate) { Sink.add($0 &+ callback) } }
        promise.succeed(index)
      }
    }
  }

  /// C6v: C6 with a function value in place of the closure literals.
  ///
  /// Generic code stores the value, so the compiler wraps it anew for each callback. A literal allocates its context instead.
  @Sendable
  static func manyCallbackValues(_ harness: Harness) -> Row {
    let callbacks = 1_000
    let ours = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let callback = makeCallback(index)
        let promise = makePromise()
        let future = promise.future
        for _ in 0..<callbacks { future.whenResolved(on: .immediate, callback) }
        promise.succeed(index)
      }
    }
    let floor = Body.synchronous { repetitions in
      for index in 0..<repetitions {
        let callback = makeCallback(index)
        let promise = makeHandPromise()
        for _ in 0..<callbacks { promise.future.whenResolved(callback) }
        promise.succeed(index)
      }
    }
    return harness.measure(
      "C6v",
      "1,000 callbacks on one future, each the same function value, per callback",
      parts: callbacks,
      ours: ours,
      floor: Contender("lock and slots by hand", floor),
      budget: [.timesFloor(1.55), .allocations(2)]
    )
  }

  /// Returns a function value that the compiler cannot inline.
  @inline(never)
  private static func makeCallback(_ index: Int) -> @Sendable (Result<Value, Failure>) -> Void {
    { Sink.add($0, plus: index) }
  }
}
