// Client code at the edges of the API, which compiles in Swift 5, Swift 6 and default main actor modes.
import Dispatch
import Futures
import FuturesAsync

nonisolated func fetch(_ id: Int) -> Future<Int, any Error> { Future(on: .global()) { id } }

// A legacy API whose closures are not `@Sendable`, and a progress bar.
final class Radar { func scan(progress: @escaping (Int, Int) -> Void, done: @escaping (Int?, (any Error)?) -> Void) { progress(1, 2); done(1, nil) } }
func scan(_ radar: Radar) -> Future<Int, any Error> {
  Future { promise in radar.scan(progress: promise.progress.countHandler, done: promise.valueOrErrorHandler) }
}

// A view model whose transforms use its state.
@MainActor final class Titles {
  var prefix = "#"
  func title(_ id: Int) -> Future<String, any Error> {
    fetch(id).map(on: .main) { self.prefix + "\($0)" }.flatMap(on: .main) { Future<String, any Error>.succeeded(self.prefix + $0) }
  }
  func orZero(_ id: Int) -> Future<Int, Never> { fetch(id).recover(on: .main) { _ in self.prefix.count } }
}

// A typed failure stays typed (R22c).
struct APIError: CancellableFailure { static var cancelled: APIError { APIError() } }
func typed(_ future: Future<Int, APIError>) async throws(APIError) -> Int { try await future.value(onCancel: .cancel) }
func abandoned(_ future: Future<Int, APIError>) async throws(APIError) -> Int { try await future.value(onCancel: .abandon) }
