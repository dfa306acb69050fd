import Dispatch
import Synchronization

/// Stands for a server, which behaves as a test demands.
public final class Backend: Sendable {
  /// The behaviour of the backend after a question.
  public enum Mood: Sendable {
    /// Answers on a queue, or before it returns.
    case answers, answersAtOnce

    /// Fails on a queue: the backend is offline.
    case fails

    /// Loses the callback.
    case drops

    /// Keeps the callback until `finish`.
    case waits
  }

  private struct State {
    var isAsked = false
    var held: [@Sendable () -> Void] = []
    var waiter: CheckedContinuation<Void, Never>?
    var cancelCount = 0
    var cancelWaiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  }

  private let mood: Mood
  private let queue = DispatchQueue(label: "Backend")
  private let state = Mutex(State())

  public init(_ mood: Mood) { self.mood = mood }

  /// The number of cancellations.
  public var cancelCount: Int { state.withLock { $0.cancelCount } }

  /// Whether a function has asked the backend.
  public var isAsked: Bool { state.withLock { $0.isAsked } }

  /// Returns when `count` pieces of work have been cancelled.
  public func untilCancelled(_ count: Int) async {
    await withCheckedContinuation { waiter in
      let isCancelled = state.withLock { state in
        if state.cancelCount < count { state.cancelWaiter = (count, waiter) }
        return state.cancelCount >= count
      }
      if isCancelled { waiter.resume() }
    }
  }

  /// Returns when a function has asked the backend.
  public func untilAsked() async {
    await withCheckedContinuation { waiter in
      let isAsked = state.withLock { state in
        if !state.isAsked { state.waiter = waiter }
        return state.isAsked
      }
      if isAsked { waiter.resume() }
    }
  }

  /// Calls the kept callbacks.
  public func finish() {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for work in held { queue.async(execute: work) }
  }

  /// Does `before`, and then `answer`, which gets an error if the work fails.
  @discardableResult
  func ask(before: (() -> Void)? = nil, _ answer: @escaping ((any Error)?) -> Void) -> Job {
    // The queue is serial, and the caller does not keep the callback.
    nonisolated(unsafe) let answer = answer
    before?()
    switch mood {
    case .answers: queue.async { answer(nil) }
    case .answersAtOnce: answer(nil)
    case .fails: queue.async { answer(Offline()) }
    case .drops: break
    case .waits: state.withLock { $0.held.append { answer(nil) } }
    }
    let waiter = state.withLock { state in
      state.isAsked = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
    return Job(self)
  }

  func ask<Value>(for value: Value, _ answer: @escaping (Result<Value, any Error>) -> Void) -> Job {
    ask { error in answer(error.map { .failure($0) } ?? .success(value)) }
  }

  fileprivate func cancelled() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.cancelCount += 1
      guard let waiter = state.cancelWaiter, state.cancelCount >= waiter.count else { return nil }
      state.cancelWaiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }
}

/// The error of a backend that fails.
public struct Offline: Error, Hashable {
  public init() {}
}

/// Work that can be cancelled.
public protocol Cancelling: AnyObject, Sendable {
  /// Stops the work.
  func cancel()
}

/// Work that can be cancelled from any thread.
public final class Job: Cancelling {
  private let backend: Backend

  init(_ backend: Backend) { self.backend = backend }

  /// Stops the work.
  public func cancel() { backend.cancelled() }
}
