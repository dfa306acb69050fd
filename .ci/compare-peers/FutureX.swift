import Future

@inline(never)
private func makePromise() -> Promise<Int, any Error> { Promise() }

extension Peer {
  /// Transforms run inline always, callbacks by the immediate scheduler.
  static let futureX = Peer(
    "FutureX",
    [
      .callback: .each { index in
        let promise = makePromise()
        promise.future.observe(on: Scheduler.immediate).on { Sink.add($0 &+ index) }
        promise.succeed(value: index)
      },
      .map: .each { index in
        let promise = makePromise()
        var future = promise.future.map { $0 &+ index }
        for _ in 1..<stages { future = future.map { $0 &+ index } }
        future.observe(on: Scheduler.immediate).on { Sink.add($0) }
        promise.succeed(value: index)
      },
      .flatMap: .each { index in
        let promise = makePromise()
        var future = promise.future.flatMap { Future<Int, any Error>(value: $0 &+ index) }
        for _ in 1..<stages { future = future.flatMap { Future<Int, any Error>(value: $0 &+ index) } }
        future.observe(on: Scheduler.immediate).on { Sink.add($0) }
        promise.succeed(value: index)
      },
      .callbacks: .each { index in
        let promise = makePromise()
        let future = promise.future.observe(on: Scheduler.immediate)
        for callback in 0..<many { future.on { Sink.add($0 &+ callback) } }
        promise.succeed(value: index)
      },
      .all: .each { _ in
        let promises = (0..<many).map { _ in makePromise() }
        Future.zip(promises.map { $0.future }).observe(on: Scheduler.immediate).on { Sink.add($0.reduce(0, &+)) }
        for index in 0..<many { promises[index].succeed(value: index) }
      },
      .await: .asynchronous { count in
        let promise = makePromise()
        promise.succeed(value: 1)
        let future = promise.future
        for _ in 0..<count { Sink.add(try await value(of: future)) }
      }.remark("bridge"),
    ]
  )
}

/// The bridge that a program has to write.
private func value(of future: Future<Int, any Error>) async throws -> Int {
  if let result = future.result { return try result.get() }
  return try await withUnsafeThrowingContinuation { continuation in
    future.observe(on: Scheduler.immediate)
      .on(success: { continuation.resume(returning: $0) }, failure: { continuation.resume(throwing: $0) })
  }
}
