import Deferred
import Dispatch

private final class Inline: Executor, Sendable {
  func submit(_ body: @escaping () -> Void) { body() }
}

private let inline = Inline()

@inline(never)
private func makePromise() -> Deferred<Int> { Deferred() }

extension Peer {
  /// `Deferred` is the promise and the future, without failures.
  static let deferred = Peer(
    "Deferred",
    [
      .callback: .each { index in
        let promise = makePromise()
        promise.upon(inline) { Sink.add($0 &+ index) }
        promise.fill(with: index)
      },
      .map: .each { index in
        let promise = makePromise()
        var future = promise.map(upon: inline) { $0 &+ index }
        for _ in 1..<stages { future = future.map(upon: inline) { $0 &+ index } }
        future.upon(inline) { Sink.add($0) }
        promise.fill(with: index)
      },
      .flatMap: .each { index in
        let promise = makePromise()
        var future = promise.andThen(upon: inline) { Deferred(filledWith: $0 &+ index) }
        for _ in 1..<stages { future = future.andThen(upon: inline) { Deferred(filledWith: $0 &+ index) } }
        future.upon(inline) { Sink.add($0) }
        promise.fill(with: index)
      },
      .callbacks: .each { index in
        let promise = makePromise()
        for callback in 0..<many { promise.upon(inline) { Sink.add($0 &+ callback) } }
        promise.fill(with: index)
      },
      // `allFilled` has its callbacks on a global queue. So the loop waits for the array.
      .all: .each { _ in
        let semaphore = DispatchSemaphore(value: 0)
        let promises = (0..<many).map { _ in makePromise() }
        promises.allFilled().upon(inline) { values in
          Sink.add(values.reduce(0, &+))
          semaphore.signal()
        }
        for index in 0..<many { promises[index].fill(with: index) }
        semaphore.wait()
      }.remark("on a queue"),
      .await: .asynchronous { count in
        let promise = makePromise()
        promise.fill(with: 1)
        for _ in 0..<count { Sink.add(await value(of: promise)) }
      }.remark("bridge"),
    ]
  )
}

/// The bridge that a program has to write.
private func value(of future: Deferred<Int>) async -> Int {
  if let value = future.peek() { return value }
  return await withUnsafeContinuation { continuation in future.upon(inline) { continuation.resume(returning: $0) } }
}
