import Futures

public struct User: Sendable { var id: Int, name: String, friends: [Int] }
public struct Picture: Sendable { var bytes: [UInt8] }
enum NetworkError: Error { case offline, notFound }
struct ParseError: Error { var text: String }

@inline(never) func data(_ path: String) -> Future<[UInt8], NetworkError> { .failed(.offline) }
@inline(never) func parse(_ bytes: [UInt8]) throws(ParseError) -> User { throw ParseError(text: "\(bytes.count)") }
@inline(never) func picture(_ id: Int) -> Future<Picture, any Error> { .succeeded(Picture(bytes: [])) }
@inline(never) func store(_ user: User) -> Future<Void, any Error> { .succeeded(()) }
@inline(never) func cached(_ id: Int) -> Future<User?, Never> { .succeeded(nil) }

// -- repeated --
/// Mixed failures: the network's and the parser's.
public func user$N(_ id: Int) -> Future<User, any Error> {
  data("/user/$N/\(id)")
    .eraseFailure()
    .map { bytes in try parse(bytes) }
}

/// A cache before the network.
public func cachedUser$N(_ id: Int) -> Future<User, any Error> {
  cached(id).flatMap { known -> Future<User, any Error> in
    if let known { return .succeeded(known) }
    return user$N(id).flatMap { user in store(user).map { user } }
  }
}

/// Several at once.
public func profile$N(_ id: Int) -> Future<(User, Picture), any Error> {
  Future.zip(cachedUser$N(id), picture(id))
}

public func friends$N(of user: User) -> Future<[User], any Error> {
  Future.all(user.friends.map { cachedUser$N($0) })
}

/// A context, a timeout, a fallback.
public func title$N(_ id: Int, on context: ExecutionContext) -> Future<String, Never> {
  profile$N(id)
    .map(on: context) { user, picture in "\(user.name): \(picture.bytes.count)" }
    .timeout(after: .seconds(10))
    .recover { error in "$N \(error)" }
}

@MainActor
public final class Screen$N {
  private(set) var title = ""
  private(set) var isLoading = false
  private(set) var friends: [String] = []
  private let source = CancellationTokenSource()

  public func show(_ id: Int, on context: ExecutionContext) {
    isLoading = true
    title$N(id, on: context)
      .cancelled(by: source.token)
      .whenResolved(on: .main) { [self] result in
        isLoading = false
        if case .success(let title) = result { self.title = title }
      }
    cachedUser$N(id)
      .flatMap { friends$N(of: $0) }
      .map { $0.map(\.name) }
      .whenSucceeded(on: .main) { [self] names in friends = names }
  }

  public func close() { source.cancel() }
}
