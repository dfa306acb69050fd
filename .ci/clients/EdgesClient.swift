// Client code at the edges of the API, which compiles in Swift 5, Swift 6 and default main actor modes.
import Dispatch
import Futures
import FuturesAsync

nonisolated func fetch(_ id: Int) -> Future<Int, any Error> { Future(on: .global()) { id } }

// Old signatures over futures, from nonisolated code.
nonisolated func old1(completion: @escaping @Sendable (Int?, (any Error)?) -> Void) { fetch(1).forward(on: .main, to: completion) }
nonisolated func old2(completion: @escaping @Sendable ((any Error)?) -> Void) { fetch(2).ignoreValue().forward(on: .main, to: completion) }
nonisolated func old3(completion: @escaping @MainActor (Int?, (any Error)?) -> Void) { fetch(3).forward(on: .main, to: completion) }
nonisolated func old4(completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { fetch(4).forward(on: .main, to: completion) }
nonisolated func old5() { fetch(5).forward(on: .main) { value, error in print(value as Any, error as Any) } }

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
