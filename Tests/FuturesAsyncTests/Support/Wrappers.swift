internal import Futures
internal import FuturesAsync
internal import TestSupport

/// The ways to wrap a callback in an async call.
///
/// A new case gets the tests of results, cancellation, isolation, release and memory.
enum Wrapper: CaseIterable, Sendable {
  case callback, typed

  /// The only reference to a callback; its closures do what the callback's methods do.
  struct Handle: Sendable {
    let resume: @Sendable (sending Page) -> Void
    let fail: @Sendable (TestError) -> Void
    let onCancel: @Sendable (@escaping @Sendable () -> Void) -> Void
    let onCancelOnMain: @Sendable (@escaping @MainActor () -> Void) -> Void

    init(_ callback: some CallbackMethods) {
      resume = { callback.resume(returning: $0) }
      fail = { callback.fail($0) }
      onCancel = { callback.onCancel($0) }
      onCancelOnMain = { callback.onCancel(on: .main, $0) }
    }
  }

  /// Calls `start` with a callback, on the actor of the caller, and returns the outcome as text.
  nonisolated(nonsending) func call(
    _ start: (Handle) -> Void,
    onCancel: @escaping @Sendable () -> Void = {}
  ) async -> String {
    do {
      switch self {
      case .callback: return try await withCallback(of: Page.self, { start(Handle($0)) }, onCancel: onCancel).text
      case .typed:
        let (cancelled, dropped) = (TestError(-1), TestError(-2))
        return try await withCallback(
          throwing: TestError.self,
          cancelled: cancelled,
          dropped: dropped,
          of: Page.self,
          { start(Handle($0)) },
          onCancel: onCancel
        ).text
      }
    } catch {
      switch error {
      case is CancellationError where self == .callback, TestError(-1) as TestError: return "cancelled"
      case is BrokenPromise where self == .callback, TestError(-2) as TestError: return "broken"
      default: return "\(error)"
      }
    }
  }
}

/// The methods of both kinds of callback.
protocol CallbackMethods: Sendable {
  func resume(returning value: sending Page)
  func fail(_ error: TestError)
  func onCancel(_ handler: @escaping @Sendable () -> Void)
  func onCancel(on context: MainContext, _ handler: @escaping @MainActor () -> Void)
}

extension Callback<Page>: CallbackMethods {
  func fail(_ error: TestError) { resume(throwing: error) }
}

extension TypedCallback<Page, TestError>: CallbackMethods {
  func fail(_ error: TestError) { resume(throwing: error) }
}

extension Page {
  fileprivate var text: String { "\(number)" }
}

/// The ways to turn a callback that is called many times into a sequence for one reader.
enum StreamKind: CaseIterable, Sendable {
  case single, shared

  typealias Stream = AsyncThrowingStream<Int, any Error>

  func make(
    _ label: String? = nil,
    bufferingPolicy: Stream.Continuation.BufferingPolicy = .unbounded,
    line: UInt = #line,
    _ start: @escaping @Sendable (CallbackStream<Int>) -> Void
  ) -> Stream {
    switch self {
    case .single: callbackStream(label, bufferingPolicy: bufferingPolicy, line: line, start)
    case .shared: SharedCallbackStream(label, line: line, start).reader(bufferingPolicy: bufferingPolicy)
    }
  }

  func make(on context: MainContext, _ start: @escaping @MainActor (CallbackStream<Int>) -> Void) -> Stream {
    switch self {
    case .single: callbackStream(on: context, start)
    case .shared: SharedCallbackStream(on: context, start).reader(bufferingPolicy: .unbounded)
    }
  }
}

/// Reads `count` elements, or up to the end.
func read(
  _ stream: AsyncThrowingStream<Int, any Error>,
  _ count: Int = .max
) async -> (elements: [Int], error: (any Error)?) {
  var elements: [Int] = []
  do {
    for try await element in stream {
      elements.append(element)
      if elements.count == count { break }
    }
    return (elements, nil)
  } catch {
    return (elements, error)
  }
}
