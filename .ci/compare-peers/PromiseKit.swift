// @preconcurrency: the configuration of PromiseKit is a global variable.
@preconcurrency import PromiseKit

@inline(never)
private func makePromise() -> (promise: Promise<Int>, resolver: Resolver<Int>) { Promise.pending() }

extension Peer {
  static let promiseKit: Peer = {
    // Callbacks of `async()` take no queue, and run on the main queue by default. `nil` runs them inline.
    conf.Q = (map: nil, return: nil)
    return Peer(
      "PromiseKit",
      [
        .callback: .each { index in
          let (promise, resolver) = makePromise()
          _ = promise.done(on: nil) { Sink.add($0 &+ index) }
          resolver.fulfill(index)
        },
        .map: .each { index in
          let (promise, resolver) = makePromise()
          var future = promise.map(on: nil) { $0 &+ index }
          for _ in 1..<stages { future = future.map(on: nil) { $0 &+ index } }
          _ = future.done(on: nil) { Sink.add($0) }
          resolver.fulfill(index)
        },
        .flatMap: .each { index in
          let (promise, resolver) = makePromise()
          var future = promise.then(on: nil) { Promise.value($0 &+ index) }
          for _ in 1..<stages { future = future.then(on: nil) { Promise.value($0 &+ index) } }
          _ = future.done(on: nil) { Sink.add($0) }
          resolver.fulfill(index)
        },
        .callbacks: .each { index in
          let (promise, resolver) = makePromise()
          for callback in 0..<many { _ = promise.done(on: nil) { Sink.add($0 &+ callback) } }
          resolver.fulfill(index)
        },
        .all: .each { _ in
          let pairs = (0..<many).map { _ in makePromise() }
          _ = when(fulfilled: pairs.map { $0.promise }).done(on: nil) { Sink.add($0.reduce(0, &+)) }
          for index in 0..<many { pairs[index].resolver.fulfill(index) }
        },
        .await: .asynchronous { count in
          let (promise, resolver) = makePromise()
          resolver.fulfill(1)
          for _ in 0..<count { Sink.add(try await promise.async()) }
        },
      ]
    )
  }()
}
