internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

private enum APIError: Error, Equatable { case refused, cancelled, noAnswer }

@Suite(.timeLimit(.minutes(20)))
struct TypedCallbackTests {
  /// Awaits a callback that `start` gets, in a task.
  private func call(
    isCancelled: Bool = false,
    _ start: @escaping @Sendable (TypedCallback<Page, APIError>) -> Void,
    onCancel: @escaping @Sendable () -> Void = {}
  ) -> Task<Result<Int, APIError>, Never> {
    Task.immediate {
      if isCancelled { cancelCurrentTask() }
      do throws(APIError) {
        let page = try await withCallback(
          throwing: APIError.self,
          cancelled: .cancelled,
          dropped: .noAnswer,
          of: Page.self,
          start,
          onCancel: onCancel
        )
        return .success(page.number)
      } catch {
        return .failure(error)
      }
    }
  }

  @Test("A typed callback returns the value or throws the very error, for each handler")
  func results() async {
    #expect(await call { $0.resume(returning: Page(1)) }.value == .success(1))
    #expect(await call { $0.resultHandler(.success(Page(2))) }.value == .success(2))
    #expect(await call { $0.valueHandler(Page(3)) }.value == .success(3))
    #expect(await call { $0.resume(throwing: .refused) }.value == .failure(.refused))
    #expect(await call { $0.resultHandler(.failure(.refused)) }.value == .failure(.refused))
    #expect(await call { $0.failureHandler(.refused) }.value == .failure(.refused))
    // Released without a call.
    #expect(await call { _ in }.value == .failure(.noAnswer))
  }

  @Test(
    "R22b: a cancelled task runs the handlers once, or does not start the API, and throws the error for cancellation"
  )
  func cancelled() async {
    let early = call(isCancelled: true) { _ in Issue.record("The API was started.") }
    #expect(await early.value == .failure(.cancelled))
    let kept = Locked<TypedCallback<Page, APIError>?>(nil)
    let stops = Recorder<String>()
    let task = call { callback in
      callback.onCancel { stops.record("callback") }
      kept.withLock { $0 = callback }
    } onCancel: {
      stops.record("call")
    }
    task.cancel()
    #expect(await task.value == .failure(.cancelled))
    #expect(stops.events == ["call", "callback"])
    kept.withLock { $0 = nil }
  }
}
