import Futures
import FuturesAsync

/// C9: handlers of one token: registers, runs or removes, and releases each of them.
///
/// A handler captures one word, so the allocation of its context counts. In the second row one token lives for the
/// whole row, as the token of a screen or a server outlives its operations.
@Sendable
func tokenHandlers(_ harness: Harness) -> [Row] {
  let handlers = 1_000
  let cancelByHand = Body.synchronous { repetitions in
    for _ in 0..<repetitions {
      let token = HandToken()
      for index in 0..<handlers { token.register { Sink.add(index) } }
      token.cancel()
    }
  }
  let longLived = CancellationTokenSource()
  let remove = Body.synchronous { repetitions in
    let token = longLived.token
    for index in 0..<repetitions { token.register { Sink.add(index) }.remove() }
  }
  let longLivedByHand = HandToken()
  let removeByHand = Body.synchronous { repetitions in
    for index in 0..<repetitions { longLivedByHand.remove(longLivedByHand.register { Sink.add(index) }) }
  }
  return [
    harness.measure(
      "C9 cancel",
      "register 1,000 handlers with a token and cancel it, per handler",
      parts: handlers,
      ours: cancelledHandlers(handlers),
      floor: Contender("a lock and a list by hand", cancelByHand),
      budget: [.timesFloor(0.97), .allocations(2)]
    ),
    harness.measure(
      "C9 remove",
      "register a handler with a long-lived token, and remove it",
      ours: remove,
      floor: Contender("a lock and a list by hand", removeByHand),
      budget: [.timesFloor(1.05), .allocations(2), .bytesLeft(0)]
    ),
  ]
}

/// Registers, runs and releases handlers of one token.
func cancelledHandlers(_ count: Int) -> Body {
  .synchronous { repetitions in
    for _ in 0..<repetitions {
      let source = CancellationTokenSource()
      let token = source.token
      for index in 0..<count { token.register { Sink.add(index) } }
      source.cancel()
    }
  }
}

/// B7: makes a token for the current task, and only reads it.
@Sendable
func cancellationToken(_ harness: Harness) -> Row {
  let ours = Body.asynchronous { repetitions in
    for index in 0..<repetitions {
      await withCancellationToken { token in Sink.add(token.isCancelled ? 0 : index) }
    }
  }
  let byHand = Body.asynchronous { repetitions in
    for index in 0..<repetitions {
      let token = HandToken()
      await withTaskCancellationHandler {
        Sink.add(token.isCancelled ? 0 : index)
      } onCancel: {
        token.cancel()
      }
    }
  }
  return harness.measure(
    "B7",
    "withCancellationToken around nothing",
    ours: ours,
    floor: Contender("withTaskCancellationHandler, and a token by hand", byHand),
    budget: [.timesFloor(1.48), .allocations(1)]
  )
}
