public struct User: Sendable { var id: Int, name: String, friends: [Int] }
public struct Picture: Sendable { var bytes: [UInt8] }
enum NetworkError: Error { case offline, notFound }
struct ParseError: Error { var text: String }
struct TimeoutError: Error {}

@inline(never) func data(_ path: String) async throws(NetworkError) -> [UInt8] { throw .offline }
@inline(never) func parse(_ bytes: [UInt8]) throws(ParseError) -> User { throw ParseError(text: "\(bytes.count)") }
@inline(never) func picture(_ id: Int) async throws -> Picture { Picture(bytes: []) }
@inline(never) func store(_ user: User) async throws {}
@inline(never) func cached(_ id: Int) async -> User? { nil }

@inline(never) func withTimeout<Value: Sendable>(
  _ duration: Duration,
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: duration)
      throw TimeoutError()
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

// -- repeated --
/// Mixed failures: the network's and the parser's.
public func user$N(_ id: Int) async throws -> User {
  try parse(try await data("/user/$N/\(id)"))
}

/// A cache before the network.
public func cachedUser$N(_ id: Int) async throws -> User {
  if let known = await cached(id) { return known }
  let user = try await user$N(id)
  try await store(user)
  return user
}

/// Several at once.
public func profile$N(_ id: Int) async throws -> (User, Picture) {
  async let user = cachedUser$N(id)
  async let image = picture(id)
  return try await (user, image)
}

public func friends$N(of user: User) async throws -> [User] {
  try await withThrowingTaskGroup(of: (Int, User).self) { group in
    for (index, id) in user.friends.enumerated() {
      group.addTask { (index, try await cachedUser$N(id)) }
    }
    var users = [User?](repeating: nil, count: user.friends.count)
    for try await (index, user) in group { users[index] = user }
    return users.compactMap(\.self)
  }
}

/// A context, a timeout, a fallback.
@concurrent
public func title$N(_ id: Int) async -> String {
  do {
    return try await withTimeout(.seconds(10)) {
      let (user, picture) = try await profile$N(id)
      return "\(user.name): \(picture.bytes.count)"
    }
  } catch {
    return "$N \(error)"
  }
}

@MainActor
public final class Screen$N {
  private(set) var title = ""
  private(set) var isLoading = false
  private(set) var friends: [String] = []
  private var tasks: [Task<Void, Never>] = []

  public func show(_ id: Int) {
    isLoading = true
    tasks.append(
      Task {
        let title = await title$N(id)
        isLoading = false
        if !Task.isCancelled { self.title = title }
      }
    )
    tasks.append(
      Task {
        if let names = try? await friends$N(of: cachedUser$N(id)).map(\.name) { friends = names }
      }
    )
  }

  public func close() { for task in tasks { task.cancel() } }
}
