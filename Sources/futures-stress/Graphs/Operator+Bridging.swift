import Futures
import FuturesAsync

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  /// Operators with tasks: a cancellation reaches their inputs after `cancel()` has returned, or not at all.
  static let bridging = [
    bridge("await that abandons") { first in try await first.value(onCancel: .abandon) },
    bridge("await that cancels") { first in try await first.value(onCancel: .cancel) },
    bridge("await that ignores") { first in try await first.value(onCancel: .ignore) },
    bridge("withCallback") { first in
      try await withCallback(of: TrackedValue.self) { callback in first.forward(to: callback.resultHandler) }
    },
    bridge("callbackStream") { first in
      let values = callbackStream(of: TrackedValue.self) { stream in
        first.whenSucceeded(on: .immediate) { stream.yield($0) }
        first.whenResolved(on: .immediate) { result in
          switch result {
          case .success: stream.finish()
          case .failure(let error): stream.finish(throwing: error)
          }
        }
      }
      for try await value in values { return value }
      throw CancellationError()
    },
    bridge("events") { first in
      for await case .resolved(let result) in first.events { return try result.get() }
      throw CancellationError()
    },
    bridge("withCancellationToken") { first in
      try await withCancellationToken { token in try await first.cancelled(by: token).value }
    },
    Operator("token.cancelling", passesCancellation: false) { made in
      let (ticket, first, token) = (made.transform(), made.first, made.surroundings.token.token)
      return GraphFuture {
        ticket.run()
        return try await token.cancelling { try await first.value }
      }
    },
    Operator("Future.immediate", passesCancellation: false) { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture.immediate {
        ticket.run()
        return try await first.value
      }
    },
    Operator("Future.detached", passesCancellation: false) { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture.detached {
        ticket.run()
        return try await first.value
      }
    },
    Operator("resolve(with:)", passesCancellation: false) { made in
      let (promise, ticket, first) = (GraphPromise(), made.transform(), made.first)
      promise.resolve {
        ticket.run()
        return try await first.value
      }
      return promise.future
    },
    Operator("Future(Task)", passesCancellation: false) { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture(
        Task {
          ticket.run()
          return try await first.value
        }
      )
    },
  ]

  private static func bridge(
    _ name: String,
    _ work: @escaping @Sendable (GraphFuture) async throws -> TrackedValue
  ) -> Operator {
    Operator(name, passesCancellation: false) { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture {
        ticket.run()
        return try await work(first)
      }
    }
  }
}
