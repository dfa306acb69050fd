import Futures
import FuturesAsync

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  /// Operators with tasks.
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
      throw CancellationError()  // a cancelled reader gets no element
    },
    bridge("events") { first in
      for await case .resolved(let result) in first.events { return try result.get() }
      throw CancellationError()  // as above
    },
    bridge("withCancellationToken") { first in
      try await withCancellationToken { token in try await first.cancelled(by: token).value }
    },
    task("token.cancelling") { use, work in
      let token = use.surroundings.token.token
      return GraphFuture { try await token.cancelling { try await work() } }
    },
    task("Future.immediate") { _, work in GraphFuture.immediate { try await work() } },
    task("Future.detached") { _, work in GraphFuture.detached { try await work() } },
    task("resolve(with:)") { _, work in
      let promise = GraphPromise()
      promise.resolve { try await work() }
      return promise.future
    },
    task("Future(Task)") { _, work in GraphFuture(Task { try await work() }) },
  ]

  /// An operator that starts a task by `Future { }`; `work`, in the task, awaits the input.
  private static func bridge(
    _ name: String,
    _ work: @escaping @Sendable (GraphFuture) async throws -> TrackedValue
  ) -> Operator {
    task(name, work) { _, awaitInput in GraphFuture { try await awaitInput() } }
  }

  /// An operator that starts a task by `start`; `work`, in the task, awaits the input, and a ticket counts its runs.
  private static func task(
    _ name: String,
    _ work: @escaping @Sendable (GraphFuture) async throws -> TrackedValue = { try await $0.value },
    _ start: @escaping @Sendable (Derivation, @escaping @Sendable () async throws -> TrackedValue) -> GraphFuture
  ) -> Operator {
    Operator(name) { use in
      let (ticket, first) = (use.ticket(), use.first)
      return start(use) {
        ticket.run()
        return try await work(first)
      }
    }
  }
}
