import Futures
import FuturesAsync

/// Makes a promise out of line, as each file does.
///
/// Otherwise the compiler can see that no promise outlives the loop, and remove the allocation.
@inline(never)
private func makePromise() -> Promise<Int, any Error> { Promise() }

extension Peer {
  static let swiftFutures = Peer(
    "swift-futures",
    [
      .callback: .each { index in
        let promise = makePromise()
        promise.future.whenSucceeded(on: .immediate) { Sink.add($0 &+ index) }
        promise.succeed(index)
      },
      .map: .each { index in
        let promise = makePromise()
        var future = promise.future.map { $0 &+ index }
        for _ in 1..<stages { future = future.map { $0 &+ index } }
        future.whenSucceeded(on: .immediate) { Sink.add($0) }
        promise.succeed(index)
      },
      .flatMap: .each { index in
        let promise = makePromise()
        var future = promise.future.flatMap { .succeeded($0 &+ index) }
        for _ in 1..<stages { future = future.flatMap { .succeeded($0 &+ index) } }
        future.whenSucceeded(on: .immediate) { Sink.add($0) }
        promise.succeed(index)
      },
      .callbacks: .each { index in
        let promise = makePromise()
        let future = promise.future
        for callback in 0..<many { future.whenSucceeded(on: .immediate) { Sink.add($0 &+ callback) } }
        promise.succeed(index)
      },
      .all: .each { _ in
        let promises = (0..<many).map { _ in makePromise() }
        Future.all(promises.map { $0.future }).whenSucceeded(on: .immediate) { Sink.add($0.reduce(0, &+)) }
        for index in 0..<many { promises[index].succeed(index) }
      },
      .await: .asynchronous { count in
        let promise = makePromise()
        promise.succeed(1)
        let future = promise.future
        for _ in 0..<count { Sink.add(try await future.value) }
      },
    ]
  )
}
