import Dispatch
import Futures
import FuturesTesting
import FuturesAsync

/// An operation between callbacks, futures and async code.
///
/// Its parts race on several threads, and its outcome is random.
enum BridgeOperation: CaseIterable {
  case abandoningAwait, cancellingAwait, callback, stream, progress, task, token, sharedWork

  /// How the work of an operation ends.
  private enum End: CaseIterable {
    case value, valueAndCancellation, cancellation, dropped

    var isCancelled: Bool { self == .valueAndCancellation || self == .cancellation }
    var hasValue: Bool { self == .value || self == .valueAndCancellation }
  }

  /// Performs the operation.
  /// - Returns: The violated expectations.
  func run(_ random: inout SplitMix64) async -> [String] {
    let end = End.allCases.randomElement(using: &random)!
    let fault =
      switch self {
      case .abandoningAwait: await awaitFuture(end, onCancel: .abandon)
      case .cancellingAwait: await awaitFuture(end, onCancel: .cancel)
      case .callback: await awaitCallback(end)
      case .stream: await readStream(end, count: random.next(below: 20))
      case .progress: await readProgress(end)
      case .task: await awaitTask(end)
      case .token: await useToken(end)
      case .sharedWork: await shareWork(end, key: random.next(below: 4))
      }
    return fault.map { ["\(self), \(end): \($0)"] } ?? []
  }

  // MARK: Awaiting futures

  private func awaitFuture(_ end: End, onCancel: AwaitCancellation) async -> String? {
    let place = Place<Int>()
    let future = place.future
    let task = Task { try await future.value(onCancel: onCancel) }
    Self.finish(place, task, end)
    return Self.fault(of: await task.result, end)
  }

  /// Checks the result of an await against the end of its work.
  private static func fault(of result: Result<Int, any Error>, _ end: End) -> String? {
    switch result {
    case .success: return end.hasValue ? nil : "the await returned a value that no promise has"
    case .failure(is CancellationError): return end.isCancelled ? nil : "the await threw a cancellation"
    case .failure(is BrokenPromise): return end.hasValue ? "a promise with a value is broken" : nil
    case .failure(let error): return "the await threw \(error)"
    }
  }

  /// Ends a promise and cancels a task on another thread, without waiting for it.
  private static func finish(_ place: Place<Int>, _ task: Task<Int, any Error>, _ end: End) {
    DispatchQueue.global().async {
      if end.isCancelled { task.cancel() }
      let promise = place.takePromise()
      if end.hasValue { promise?.succeed(1) }
      // A dropped promise ends the await, and a cancelled await does not need the promise.
    }
  }

  private func awaitTask(_ end: End) async -> String? {
    let counter = Counter()
    let future = Future {
      for _ in 0..<3 { await counter.increment() }
      if end == .dropped { throw Refused() }
      return await counter.count
    }
    if end.isCancelled { DispatchQueue.global().async { future.cancel() } }
    switch await future.result {
    case .success(let count): return count == 3 && end != .dropped ? nil : "the task returned \(count)"
    case .failure(is CancellationError): return end.isCancelled ? nil : "the future was cancelled"
    case .failure(is Refused): return end == .dropped ? nil : "the task threw"
    case .failure(let error): return "the future failed with \(error)"
    }
  }

  private static let shared = PendingPromises<Int, Int, any Error>("soak")

  private func shareWork(_ end: End, key: Int) async -> String? {
    let task = Task {
      let future = Self.shared.future(sharing: key) { Future(on: .global()) { key } }
      return try await future.value(onCancel: .cancel)
    }
    if end.isCancelled { DispatchQueue.global().async { task.cancel() } }
    switch await task.result {
    case .success(let value): return value == key ? nil : "key \(key) got \(value)"
    case .failure(is CancellationError): return end.isCancelled ? nil : "a caller that did not leave was cancelled"
    case .failure(let error): return "key \(key) failed with \(error)"
    }
  }

  // MARK: Wrapping callbacks

  private func awaitCallback(_ end: End) async -> String? {
    let task = Task {
      try await withCallback(of: Int.self) { callback in
        DispatchQueue.global().async {
          guard end.hasValue else { return }  // drops the callback
          callback.resume(returning: 1)
          callback.resume(returning: 2)  // reported, and ignored
        }
      }
    }
    if end.isCancelled { DispatchQueue.global().async { task.cancel() } }
    switch await task.result {
    case .success(let value): return value == 1 && end.hasValue ? nil : "the call returned \(value)"
    case .failure(is CancellationError): return end.isCancelled ? nil : "the call threw a cancellation"
    case .failure(is BrokenPromise): return end.hasValue ? "a callback that was called is broken" : nil
    case .failure(let error): return "the call threw \(error)"
    }
  }

  private func readStream(_ end: End, count: Int) async -> String? {
    let elements = callbackStream(of: Int.self) { stream in
      DispatchQueue.global().async {
        for element in 0..<count { stream.yield(element) }
        if end != .dropped { stream.finish() }
      }
    }
    let task = Task {
      var read: [Int] = []
      for try await element in elements { read.append(element) }
      return read.count
    }
    if end.isCancelled { DispatchQueue.global().async { task.cancel() } }
    switch await task.result {
    case .success(let read): return read == count || end.isCancelled ? nil : "\(read) of \(count) elements arrived"
    case .failure(is BrokenPromise): return end == .dropped ? nil : "a finished stream is broken"
    case .failure(let error): return "the stream threw \(error)"
    }
  }

  // MARK: Progress and tokens

  private func readProgress(_ end: End) async -> String? {
    let place = Place<Int>()
    let future = place.future
    let reader = Task {
      var last = -1.0
      for await progress in future.progress {
        guard progress.fractionCompleted >= last else { return false }
        last = progress.fractionCompleted
      }
      return true
    }
    DispatchQueue.global().async {
      for completed in 0..<10 { place.promise?.progress.report(completed: Int64(completed), of: 10) }
      let promise = place.takePromise()
      if end.hasValue { promise?.succeed(1) }
    }
    if end.isCancelled { DispatchQueue.global().async { reader.cancel() } }
    return await reader.value ? nil : "the progress decreased"
  }

  private func useToken(_ end: End) async -> String? {
    let place = Place<Int>()
    let future = place.future
    let task = Task {
      try await withCancellationToken { token in try await future.cancelled(by: token).value }
    }
    Self.finish(place, task, end)
    return Self.fault(of: await task.result, end)
  }
}

private actor Counter {
  var count = 0
  func increment() { count += 1 }
}
