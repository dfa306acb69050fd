import Dispatch
import Futures

// Code written for Deferred. Only the imports are different.

struct Friend: Equatable {
  let name: String
}

enum StoreError: Error, Equatable {
  case offline
  case userCancelled
  case badName(String)
}

final class Request {
  private let promise: Task<[String]>.Promise

  init(_ promise: Task<[String]>.Promise) { self.promise = promise }

  func finish(_ names: [String]) { promise.succeed(with: names) }
  func abort() { promise.fail(with: StoreError.userCancelled) }
}

final class Server: Sendable {
  let request = Task<[String]>.Promise()

  func names() -> Task<[String]> {
    let request = self.request
    return Task(request, uponCancel: { Request(request).abort() })
  }
}

final class FriendsStore: Sendable {
  private let server: Server
  private let queue = DispatchQueue(label: "friends")
  private let greeting = Deferred<String>()

  init(server: Server) { self.server = server }

  func friends() -> Task<[Friend]> {
    return server.names()
      .map(upon: queue) { names -> [Friend] in
        if let bad = names.first(where: { $0.isEmpty }) { throw StoreError.badName(bad) }
        return names.map { Friend(name: $0) }
      }
  }

  func friendsOrNone() -> Task<[Friend]> {
    return friends().recover(upon: .any()) { error in
      if case StoreError.userCancelled = error { throw error }
      return []
    }
  }

  func cachedFriends(_ cached: [Friend]) -> Task<[Friend]> {
    return friends().fallback(upon: .any()) { _ in Task(success: cached) }
  }

  func bestFriend() -> Task<String> {
    return friends().andThen(upon: queue) { friends -> Task<String> in
      guard let first = friends.first else { return Task(failure: StoreError.offline) }
      return Task(success: first.name)
    }
  }

  func setGreeting(_ text: String) -> Bool {
    guard !greeting.isFilled else { return false }
    return greeting.fill(with: text)
  }

  func greetBestFriend() -> Future<String> {
    let name = Deferred<String>()
    bestFriend().uponSuccess(on: queue) { name.fill(with: $0) }
    bestFriend().uponFailure { _ in name.fill(with: "nobody") }
    return greeting.and(name).map(upon: queue) { greeting, name in greeting + ", " + name }
  }

  func lengths(of words: [Deferred<String>]) -> Future<[Int]> {
    return words.allFilled().map(upon: .global(qos: .utility)) { $0.map { $0.count } }
  }

  func quickest(of stores: [FriendsStore]) -> Future<String> {
    return stores.map { $0.greetBestFriend() }.firstFilled()
  }

  func everybody(in stores: [FriendsStore]) -> Task<Int> {
    return stores.map { $0.friends() }.allSucceeded().map(upon: queue) { $0.joined().count }
  }
}

@MainActor
final class FriendsScreen {
  var titles: [String] = []
  private var task: Task<[Friend]>?

  func reload(from store: FriendsStore) {
    let task = store.friends()
    task.uponSuccess(on: .main) { friends in self.titles = friends.map { $0.name } }
    task.uponFailure(on: .main) { error in self.titles = ["\(error)"] }
    self.task = task
  }

  func show(_ greeting: Future<String>) {
    greeting.upon(.main) { [weak self] text in self?.titles.append(text) }
  }

  func close() { task?.cancel() }
}

func printAll(_ names: Future<[String]>) -> [String] {
  return names.peek() ?? names.wait(until: .now() + .seconds(5)) ?? []
}
