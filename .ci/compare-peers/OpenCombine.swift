import OpenCombine

/// The future passes its promise, a closure, to the caller.
@inline(never)
private func makePromise() -> (future: Future<Int, any Error>, promise: Future<Int, any Error>.Promise) {
  var promise: Future<Int, any Error>.Promise?
  let future = Future<Int, any Error> { promise = $0 }
  guard let promise else { fatalError("The future did not make its promise.") }
  return (future, promise)
}

extension Peer {
  /// Stages are erased to one type, as functions return them.
  ///
  /// Erasure also stops the publisher from fusing two `map`s.
  static let openCombine = Peer(
    "OpenCombine `Future`",
    [
      .callback: .each { index in
        let (future, promise) = makePromise()
        let token = future.sink(receiveCompletion: { _ in }, receiveValue: { Sink.add($0 &+ index) })
        promise(.success(index))
        withExtendedLifetime(token) {}
      },
      .map: .each { index in
        let (source, promise) = makePromise()
        var future = source.map { $0 &+ index }.eraseToAnyPublisher()
        for _ in 1..<stages { future = future.map { $0 &+ index }.eraseToAnyPublisher() }
        let token = future.sink(receiveCompletion: { _ in }, receiveValue: { Sink.add($0) })
        promise(.success(index))
        withExtendedLifetime(token) {}
      },
      .flatMap: .each { index in
        let (source, promise) = makePromise()
        var future = source.flatMap { makeResolved($0 &+ index) }.eraseToAnyPublisher()
        for _ in 1..<stages { future = future.flatMap { makeResolved($0 &+ index) }.eraseToAnyPublisher() }
        let token = future.sink(receiveCompletion: { _ in }, receiveValue: { Sink.add($0) })
        promise(.success(index))
        withExtendedLifetime(token) {}
      },
      .callbacks: .each { index in
        let (future, promise) = makePromise()
        let tokens = (0..<many).map { callback in
          future.sink(receiveCompletion: { _ in }, receiveValue: { Sink.add($0 &+ callback) })
        }
        promise(.success(index))
        withExtendedLifetime(tokens) {}
      },
      .await: .asynchronous { count in
        let (future, promise) = makePromise()
        promise(.success(1))
        for _ in 0..<count { Sink.add(try await future.value) }
      },
    ]
  )

  /// The publisher that is resolved at once, and cheaper than a `Future`.
  private static func makeResolved(_ value: Int) -> Result<Int, any Error>.OCombine.Publisher {
    Result.success(value).ocombine.publisher
  }
}
