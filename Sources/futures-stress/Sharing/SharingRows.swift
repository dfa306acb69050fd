import Futures
import FuturesAsync

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension SharingRow {
  /// One row for each place at which threads meet.
  static let all: [SharingRow] = [
    SharingRow(name: "SharedCallbackStream.yield, 200 readers that keep the newest", callsInUnit: 16) {
      let handle = Locked<CallbackStream<Int>?>(nil)
      let stream = SharedCallbackStream(of: Int.self) { source in handle.withLock { $0 = source } }
      let readers = (0..<200).map { _ in stream.reader(bufferingPolicy: .bufferingNewest(1)) }
      let source = handle.withLock { $0.take() }  // the first reader has started the source
      return ({ _, number in source?.yield(number) }, { withExtendedLifetime(readers) {} })
    },
    SharingRow(name: "SharedCallbackStream.reader, which starts and stops the source") {
      let stream = SharedCallbackStream(of: Int.self) { source in source.onCancel {} }
      return ({ _, _ in _ = stream.reader(bufferingPolicy: .bufferingNewest(1)) }, {})
    },
    SharingRow(name: "ConcurrencyLimit.run of work that ends at once, or that the thread ends, limit 2") {
      let limit = ConcurrencyLimit(2)
      return (
        { _, number in
          let promise = Promise<Int, Never>()
          let future = limit.run { number % 2 == 0 ? .succeeded(number) : promise.future }
          promise.succeed(number)
          // Otherwise threads that only enqueue would make the queue long while the others are interrupted.
          if number % 64 == 0 { _ = future.wait() }
        }, {}
      )
    },
    SharingRow(name: "Promise.succeed, while other threads attach callbacks to its future", callsInUnit: 1_024) {
      let current = Locked(Future<Int, Never>.succeeded(0))
      return (
        { thread, number in
          if thread == 0, number % 16 == 0 {
            let promise = Promise<Int, Never>()
            current.withLock { $0 = promise.future }
            promise.succeed(number)
          }
          current.withLock { $0 }.whenResolved(on: .immediate) { _ in }
        }, {}
      )
    },
    SharingRow(name: "PendingPromises.resolve, 40,000 early answers kept") {
      let answers = PendingPromises<Int, Int, any Error>(keepingEarlyAnswers: 40_000)
      for key in 0..<40_000 { answers.resolve(-key - 1, with: .success(key)) }  // negative, unlike those of the threads
      // With up to 16 threads, each call has a key of its own.
      return ({ thread, number in answers.resolve(number * 16 + thread, with: .success(number)) }, {})
    },
    SharingRow(name: "PendingPromises.future(sharing:) of one key, with failures and cancellations") {
      let pending = PendingPromises<Int, Int, any Error>()
      return (
        { _, number in
          let promise = Promise<Int, any Error>()
          let caller = pending.future(sharing: 1) { promise.future }
          if number % 2 == 0 { caller.cancel() } else { promise.succeed(number) }
        }, {}
      )
    },
    SharingRow(name: "FutureCache.future(for:), with removals") {
      let cache = FutureCache<Int, Int, any Error>()
      return (
        { thread, number in
          _ = cache.future(for: number % 8) { .succeeded(number) }
          if number % 16 == thread { cache.remove(number % 8) }
        }, {}
      )
    },
    SharingRow(name: "Latest.run after a delay") {
      let latest = Latest()
      return (
        { _, number in
          latest.run(after: .seconds(1), atMost: .seconds(2), on: .global()) {
            Future<Int, any Error>.succeeded(number)
          } whenResolved: { _ in
          }
        }, { latest.cancel() }
      )
    },
  ]
}
