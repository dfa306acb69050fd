import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport

// Each function is one run of a program, with its bug or mended. All state is behind locks: no bug here is a data race.

/// The response to the first search can come after the response to the second.
@Sendable func lateResponse(_ orders: Orders, isMended: Bool) async throws {
  let shown = Locked((text: "", latest: 0))
  for (number, text) in ["a", "ab"].enumerated() {
    shown.withLock { $0.latest = number }
    Future<String, Never>(on: orders.context("request \(text)")) { "results of \(text)" }
      .whenSucceeded(on: orders.context("screen")) { results in
        shown.withLock { if !isMended || $0.latest == number { $0.text = results } }
      }
  }
  try await orders.runAll()
  let text = shown.withLock { $0.text }
  try Unexpected.unless(text == "results of ab", "the screen shows \(text)")
}

/// A second tap can come before the first response, which disables the button.
@Sendable func doubleSubmit(_ orders: Orders, isMended: Bool) async throws {
  let state = Locked((isSubmitted: false, sent: 0))
  let (screen, network) = (orders.context("tap"), orders.context("network"))
  for _ in 1...2 {
    screen.submit {
      let sends = state.withLock { state in
        guard !state.isSubmitted else { return false }
        if isMended { state.isSubmitted = true }
        state.sent += 1
        return true
      }
      if sends { network.submit { state.withLock { $0.isSubmitted = true } } }
    }
  }
  try await orders.runAll()
  let sent = state.withLock(\.sent)
  try Unexpected.unless(sent == 1, "\(sent) orders were sent")
}

/// The user can cancel after the response has come, and before it is shown.
@Sendable func cancelAfterSuccess(_ orders: Orders, isMended: Bool) async throws {
  let model = Locked((isCancelled: false, results: [String]()))
  let screen = orders.context("screen")
  Future<String, Never>(on: orders.context("network")) { "result" }
    .whenSucceeded(on: screen) { result in
      model.withLock { if !isMended || !$0.isCancelled { $0.results = [result] } }
    }
  orders.context("cancel").submit {
    model.withLock { $0 = (true, []) }
  }
  try await orders.runAll()
  let end = model.withLock(\.self)
  try Unexpected.unless(!end.isCancelled || end.results.isEmpty, "cancelled, but there are \(end.results)")
}

/// A cache by hand: a caller looks for the value and then adds itself to the waiters; the value can come in between.
@Sendable func lostWakeUp(_ orders: Orders, isMended: Bool) async throws {
  struct Cache {
    var value: Int?
    var waiters: [Promise<Int, any Error>] = []
  }
  let cache = Locked(Cache())
  orders.context("network").submit {
    let waiters = cache.withLock { cache in
      cache.value = 1
      defer { cache.waiters = [] }
      return cache.waiters
    }
    for waiter in waiters { waiter.succeed(1) }
  }
  let cached = cache.withLock(\.value)
  await orders.step("look")
  if cached != nil { return }
  let waiter = Promise<Int, any Error>("waiter")
  let missed = cache.withLock { cache in
    if isMended, let value = cache.value { return value as Int? }
    cache.waiters.append(waiter)
    return nil
  }
  if let missed { waiter.succeed(missed) }
  _ = try await waiter.future.value
}

/// The timer and the response both call the completion.
@Sendable func timeoutAgainstValue(_ orders: Orders, isMended: Bool) async throws {
  let completions = Locked([String]())
  @Sendable func complete(_ result: String) {
    completions.withLock { if !isMended || $0.isEmpty { $0.append(result) } }
  }
  let timer = Future<Void, any Error>.succeeded(()).delay(by: .seconds(10), on: orders.context("clock"))
  timer.whenSucceeded(on: .immediate) { complete("timeout") }
  orders.context("network").submit {
    complete("value")
    timer.cancel()
  }
  try await orders.runAll()
  let all = completions.withLock(\.self)
  try Unexpected.unless(all.count == 1, "completed with \(all)")
}

/// Cancelling during the pause before a retry does not stop the timer of the retry.
@Sendable func retryAfterCancel(_ orders: Orders, isMended: Bool) async throws {
  let state = Locked((isCancelled: false, attempts: 0, attemptsAfterCancel: 0))
  let (network, clock) = (orders.context("network"), orders.context("clock"))
  @Sendable func attempt() {
    let goesOn = state.withLock { state in
      if isMended, state.isCancelled { return false }
      state.attempts += 1
      if state.isCancelled { state.attemptsAfterCancel += 1 }
      return state.attempts < 2
    }
    guard goesOn else { return }
    // The attempt fails, and a pause follows.
    network.submit { Future<Void, Never>.after(.seconds(1), on: clock).whenResolved(on: .immediate) { _ in attempt() } }
  }
  attempt()
  orders.context("cancel").submit { state.withLock { $0.isCancelled = true } }
  try await orders.runAll()
  let late = state.withLock(\.attemptsAfterCancel)
  try Unexpected.unless(late == 0, "\(late) attempts after the cancellation")
}

/// Progress and completion come on different queues.
@Sendable func progressAfterCompletion(_ orders: Orders, isMended: Bool) async throws {
  let bar = Locked((isHidden: false, updatesWhileHidden: 0))
  let (progress, completion) = (orders.context("progress"), orders.context(isMended ? "progress" : "completion"))
  for _ in 1...2 {
    progress.submit { bar.withLock { if $0.isHidden { $0.updatesWhileHidden += 1 } } }
  }
  completion.submit { bar.withLock { $0.isHidden = true } }
  try await orders.runAll()
  let late = bar.withLock(\.updatesWhileHidden)
  try Unexpected.unless(late == 0, "\(late) updates of a hidden bar")
}

/// A delegate that is called in the middle of a change calls back, and sees half of the change.
@Sendable func reentrantDelegate(_ orders: Orders, isMended: Bool) async throws {
  final class Player: Sendable {
    let state = Locked((track: 0, duration: 0))
    let didChange = Locked<(@Sendable () -> Void)?>(nil)

    func play(_ track: Int, isMended: Bool) {
      state.withLock { $0.track = track }
      if !isMended { didChange.withLock(\.self)?() }
      state.withLock { $0.duration = track * 100 }
      if isMended { didChange.withLock(\.self)?() }
    }
  }
  let player = Player()
  let seen = Locked([Int]())
  orders.context("screen").submit {
    player.didChange.withLock { didChange in
      didChange = { [unowned player] in
        player.state.withLock { state in seen.withLock { $0.append(state.duration - state.track * 100) } }
      }
    }
  }
  orders.context("user").submit { player.play(2, isMended: isMended) }
  try await orders.runAll()
  let wrong = seen.withLock { $0.filter { $0 != 0 } }
  try Unexpected.unless(wrong.isEmpty, "the delegate saw the duration of another track")
}

/// An actor loads a missing value, and a second caller loads it again meanwhile.
@Sendable func twoAwaits(_ orders: Orders, isMended: Bool) async throws {
  let store = Store(orders: orders, isMended: isMended)
  async let first = store.value()
  async let second = store.value()
  _ = await (first, second)
  let loads = await store.loads
  try Unexpected.unless(loads == 1, "\(loads) loads")
}

private actor Store {
  private(set) var loads = 0
  private var loaded: Int?
  private var flight: Task<Int, Never>?
  private let orders: Orders
  private let isMended: Bool

  init(orders: Orders, isMended: Bool) { (self.orders, self.isMended) = (orders, isMended) }

  func value() async -> Int {
    if let loaded { return loaded }
    if isMended {
      let flight = flight ?? Task { await load() }
      self.flight = flight
      return await flight.value
    }
    let value = await load()
    loaded = value
    return value
  }

  private func load() async -> Int {
    loads += 1
    return await Future<Int, Never>(on: orders.context("network")) { 1 }.value
  }
}

/// Each change is announced by a task of its own, and tasks have no order.
@Sendable func orderOfNotifications(_ orders: Orders, isMended: Bool) async throws {
  let label = Locked("")
  let (model, screen) = (orders.context("model"), orders.context("screen"))
  for text in ["loading", "done"] {
    model.submit {
      if isMended {
        screen.submit { label.withLock { $0 = text } }
      } else {
        Task { label.withLock { $0 = text } }
      }
    }
  }
  try await orders.runAll()
  let text = label.withLock(\.self)
  try Unexpected.unless(text == "done", "the label says \(text)")
}

/// A cache of continuations: a caller that comes while the value is on its way adds itself after the waiters were resumed.
@Sendable func lostWaiter(_ orders: Orders, isMended: Bool) async throws {
  struct Cache {
    var value: Int?
    var waiters: [UnsafeContinuation<Int, Never>] = []
  }
  let cache = Locked(Cache())
  @Sendable func get() async -> Int {
    if let value = cache.withLock(\.value) { return value }
    await orders.step("before the wait")
    return await withUnsafeContinuation { continuation in
      let value = cache.withLock { cache in
        if isMended, let value = cache.value { return value as Int? }
        cache.waiters.append(continuation)
        return nil
      }
      if let value { continuation.resume(returning: value) }
    }
  }
  orders.context("network").submit {
    let waiters = cache.withLock { cache in
      cache.value = 1
      defer { cache.waiters = [] }
      return cache.waiters
    }
    for waiter in waiters { waiter.resume(returning: 1) }
  }
  _ = await get()
}

/// A debouncer does not cancel the timer of the text before.
@Sendable func savesTwice(_ orders: Orders, isMended: Bool) async throws {
  let state = Locked((last: 0, stale: 0))
  let queue = orders.queue("saving")
  for number in 1...2 {
    state.withLock { $0.last = number }
    queue.asyncAfter(deadline: .now() + 1.0) {
      state.withLock { if $0.last != number, !isMended { $0.stale += 1 } }
    }
    await orders.step("type")
  }
  try await orders.runAll()
  let stale = state.withLock(\.stale)
  try Unexpected.unless(stale == 0, "\(stale) old texts were saved")
}
