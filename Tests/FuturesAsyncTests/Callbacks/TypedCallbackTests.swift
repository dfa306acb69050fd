internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

private enum APIError: Error, Equatable { case refused, cancelled, noAnswer }

@Suite("withCallback with a failure type", .timeLimit(.minutes(20)))
struct TypedCallbackTests {
  /// Awaits a callback that `start` gets, in a task.
  private func call(
    _ start: @escaping @Sendable (TypedCallback<Page, APIError>) -> Void,
    onCancel: @escaping @Sendable () -> Void = {}
  ) -> Task<Result<Int, APIError>, Never> {
    Task.immediate {
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
  }

  @Test("A typed callback that is released without a call throws the error for that")
  func dropped() async {
    #expect(await call { _ in }.value == .failure(.noAnswer))
  }

  @Test("R22b: a cancelled task runs the handlers once, and throws the error for cancellation")
  func cancelled() async {
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

  @Test("R22b: an already cancelled task does not start the API, and throws the error for cancellation")
  func cancelledBefore() async {
    let starts = Recorder<String>()
    let cancelled = await Task { () async -> APIError? in
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(APIError) {
        try await withCallback(throwing: APIError.self, cancelled: .cancelled, dropped: .noAnswer, of: Void.self) { _ in
          starts.record("start")
        }
        return nil
      } catch {
        return error
      }
    }.value
    #expect(cancelled == .cancelled)
    #expect(starts.events.isEmpty)
  }
}
