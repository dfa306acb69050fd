import Dispatch
import Futures

// Code written for FutureX. Only the imports are different.

struct User: Equatable {
  let id: Int
  let name: String
}

enum LoadError: Error, Equatable {
  case noNetwork
  case notFound(Int)
}

final class Backend: Sendable {
  private let queue = DispatchQueue(label: "backend")
  private let names: [Int: String]

  init(names: [Int: String]) { self.names = names }

  func load(_ id: Int, completion: @escaping @Sendable (String?, LoadError?) -> Void) {
    let names = self.names
    queue.async { completion(names[id], names[id] == nil ? .notFound(id) : nil) }
  }

  func user(_ id: Int) -> Future<User, LoadError> {
    let promise = Promise<User, LoadError>()
    load(id) { name, error in
      if let name = name {
        promise.succeed(value: User(id: id, name: name))
      } else {
        promise.fail(error: error ?? .noNetwork)
      }
    }
    return promise.future
  }

  func cachedUser(_ id: Int) -> Future<User, LoadError> {
    guard let name = names[id] else { return Future(error: .notFound(id)) }
    return Future(value: User(id: id, name: name))
  }

  func friends(of user: User) -> Future<[User], LoadError> {
    return Future.zip([self.user(user.id + 1), self.user(user.id + 2)])
  }

  func anybody() -> Future<User, Never> {
    return user(1).flatMapError { _ in Future(value: User(id: 0, name: "nobody")) }
  }

  func nameLengths() -> Future<Int, LoadError> {
    return Future.reduce(0, [user(1), user(2)].map { $0.map { $0.name.count } }, +)
  }

  func stubborn(_ id: Int) -> Future<User, LoadError> {
    return Future.retry(attempts: 3, delay: .seconds(0.00001)) { self.user(id) }
  }

  func port(_ text: String) -> Future<Int, any Error> {
    return Future {
      guard let number = Int(text) else { throw LoadError.noNetwork }
      return number
    }
  }

  func evenPort(_ text: String) -> Future<Int, any Error> {
    return port(text).tryMap { number -> Int in
      guard number % 2 == 0 else { throw LoadError.notFound(number) }
      return number
    }
  }

  func wrapped(_ id: Int) -> Future<String, LoadError> {
    return Future { promise in
      load(id) { name, error in
        promise.resolve(result: name.map { .success($0) } ?? .failure(error ?? .noNetwork))
      }
    }
  }
}

@MainActor
final class UserScreen {
  var title = ""
  var isLoading = false

  func show(_ user: Future<User, LoadError>) {
    isLoading = true
    user.on(
      success: { [weak self] user in self?.title = user.name },
      failure: { [weak self] error in self?.title = "\(error)" },
      completion: { [weak self] in self?.isLoading = false }
    )
  }

  func showBoth(_ backend: Backend) -> Future<(User, User), LoadError> {
    let both = Future.zip(backend.user(1), backend.user(2))
    both.on { first, second in self.title = first.name + second.name }
    return both
  }
}

func parseInBackground(_ text: Future<String, LoadError>, on queue: DispatchQueue) -> Future<Int, LoadError> {
  return
    text
    .observe(on: queue)
    .map { $0.count }
}

func firstAnswer(_ futures: [Future<User, LoadError>]) -> Future<String, LoadError> {
  return Future.first(futures).map { $0.name }
}
