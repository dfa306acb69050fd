import Dispatch
import NIOCore
import NIOPosix

private let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

@inline(never)
private func makePromise() -> EventLoopPromise<Int> { loop.makePromise() }

extension Body {
  /// Runs all repetitions on the event loop, so that callbacks run at once.
  ///
  /// The loop reads the clock.
  @inline(__always)
  fileprivate static func onLoop(_ operation: @escaping @Sendable (_ index: Int) -> Void) -> Body {
    Body { count in
      let duration = loop.submit {
        let start = DispatchTime.now()
        for index in 0..<count { operation(index) }
        return elapsed(since: start)
      }
      do { return try duration.wait() } catch { fatalError("The event loop threw \(error).") }
    }
  }
}

extension Peer {
  static let swiftNIO = Peer(
    "SwiftNIO, on its loop",
    [
      .callback: .onLoop { index in
        let promise = makePromise()
        promise.futureResult.whenSuccess { Sink.add($0 &+ index) }
        promise.succeed(index)
      },
      .map: .onLoop { index in
        let promise = makePromise()
        var future = promise.futureResult.map { $0 &+ index }
        for _ in 1..<stages { future = future.map { $0 &+ index } }
        future.whenSuccess { Sink.add($0) }
        promise.succeed(index)
      },
      .flatMap: .onLoop { index in
        let promise = makePromise()
        var future = promise.futureResult.flatMap { loop.makeSucceededFuture($0 &+ index) }
        for _ in 1..<stages { future = future.flatMap { loop.makeSucceededFuture($0 &+ index) } }
        future.whenSuccess { Sink.add($0) }
        promise.succeed(index)
      },
      .callbacks: .onLoop { index in
        let promise = makePromise()
        let future = promise.futureResult
        for callback in 0..<many { future.whenSuccess { Sink.add($0 &+ callback) } }
        promise.succeed(index)
      },
      .all: .onLoop { _ in
        let promises = (0..<many).map { _ in makePromise() }
        EventLoopFuture.whenAllSucceed(promises.map { $0.futureResult }, on: loop)
          .whenSuccess { Sink.add($0.reduce(0, &+)) }
        for index in 0..<many { promises[index].succeed(index) }
      },
      // From a task, so each await hops to the loop and back.
      .await: .asynchronous { count in
        let promise = makePromise()
        promise.succeed(1)
        let future = promise.futureResult
        for _ in 0..<count { Sink.add(try await future.get()) }
      }.remark("from a task"),
    ]
  )
}
