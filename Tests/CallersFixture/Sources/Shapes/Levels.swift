public import Foundation
public import Leaves

// Functions that take a callback and call others. `convert --functions` writes their counterparts, leaf first.

public struct Repository: Sendable {
  let store: Store

  public init(_ store: Store) { self.store = store }

  /// A leaf: it calls a function that has a counterpart.
  public func title(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    store.world.note("asks for \(id)")
    store.load(id: id) { result in
      switch result {
      case .success(let text): completion(.success("title of \(text)"))
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// Becomes a leaf once `title` has a counterpart.
  public func length(id: Int, completion: @escaping @Sendable (Int) -> Void) {
    title(id: id) { result in
      switch result {
      case .success(let title): completion(title.count)
      case .failure: completion(-1)
      }
    }
  }

  /// Passes its callback on.
  public func cover(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    store.loadNow(id: id, completion: completion)
  }

  /// Wraps work that is not in the package.
  public func pause(completion: @escaping @Sendable () -> Void) {
    store.world.later { completion() }
  }

  /// Not converted: something runs after the callback.
  public func logged(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    store.load(id: id) { result in
      switch result {
      case .success(let text): completion(.success(text))
      case .failure(let error): completion(.failure(error))
      }
    }
    store.world.note("asked")
  }

  /// Not converted: a failure does not reach the callback.
  public func hopeful(id: Int, completion: @escaping @Sendable (String) -> Void) {
    store.load(id: id) { result in
      if case .success(let text) = result { completion(text) }
    }
  }

  /// Not converted: the code of its callback comes on the main queue, and would leave it.
  public func banner(id: Int, completion: @escaping @Sendable (Int) -> Void) {
    store.loadOnMain(id: id) { result in
      store.world.note("shows a banner")
      switch result {
      case .success(let text): completion(text.count)
      case .failure: completion(-1)
      }
    }
  }

  /// Converted: its callback only passes the result on, from the main queue.
  public func flag(id: Int, completion: @escaping @Sendable (Int) -> Void) {
    store.loadOnMain(id: id) { result in
      switch result {
      case .success(let text): completion(text.count)
      case .failure: completion(-1)
      }
    }
  }

  /// Not converted: one path does not call the callback.
  public func save(_ text: String, completion: @escaping @Sendable () -> Void) {
    store.save(text) { error in
      if let error {
        store.world.note("failed \(error)")
      } else {
        completion()
      }
    }
  }

  /// Its callback goes through a private function that calls it before it returns.
  public func words(id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    guard id > 0 else { return part(id: id, completion: completion) }
    store.load(id: id) { result in
      switch result {
      case .success(let text): Self.count(text, completion: completion)
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  private static func count(_ text: String, completion: (Result<Int, any Error>) -> Void) {
    do {
      completion(.success(try wordCount(of: text)))
    } catch {
      completion(.failure(error))
    }
  }

  private static func wordCount(of text: String) throws -> Int {
    if text.isEmpty { throw StoreError.missing(0) }
    return text.split(separator: " ").count
  }

  private func part(id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    store.text(id: id) { text, error in
      if let error {
        completion(.failure(error))
      } else {
        completion(.success(text?.count ?? 0))
      }
    }
  }
}

extension Repository {
  /// Its private step stays, since it keeps the callback. So the counterpart waits for the callback.
  public func hint(id: Int, completion: @escaping @Sendable (String) -> Void) {
    hintStep(id: id, completion: completion)
  }

  private func hintStep(id: Int, completion: @escaping @Sendable (String) -> Void) {
    let done = completion
    store.load(id: id) { result in done((try? result.get()) ?? "no hint") }
  }
}

extension Repository {
  /// The synchronous function with the title of a counterpart does something else. So the counterpart waits.
  public func tally(id: Int, completion: @escaping @Sendable ((any Error)?) -> Void) {
    tallied(id, completion: completion)
  }

  private func tallied(_ id: Int, completion: ((any Error)?) -> Void) {
    completion(id > 5 ? StoreError.missing(id) : nil)
  }

  private func tallied(_ id: Int) { store.world.note("tallied \(id)") }
}

public func levelTally(_ store: Store) async {
  Repository(store).tally(id: 10) { error in
    store.world.note(error.map { "failed \($0)" } ?? "tally")
  }
}

public func levelHint(_ store: Store) async {
  Repository(store).hint(id: 8) { text in store.world.note(text) }
}

/// Its call stays, because it is in the closure of a synchronous function.
public func levelAtOnce(_ store: Store) async {
  atOnce {
    Repository(store).length(id: 9) { length in store.world.note("\(length)") }
  }
}

private func atOnce(completion: () -> Void) { completion() }

extension Repository {
  /// Passes its queue on, and calls its callback on that queue itself.
  public func excerpt(
    id: Int,
    callbackQueue: DispatchQueue = .main,
    completion: @escaping @Sendable (Result<String, any Error>) -> Void
  ) {
    guard id > 0 else {
      callbackQueue.async {
        completion(.failure(StoreError.missing(id)))
      }
      return
    }
    store.read(id: id, callbackQueue: callbackQueue) { result in
      switch result {
      case .success(let text): completion(.success(String(text.prefix(3))))
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// Not converted: its callback does more on the queue.
  public func noted(
    id: Int,
    callbackQueue: DispatchQueue = .main,
    completion: @escaping @Sendable (Result<String, any Error>) -> Void
  ) {
    let world = store.world
    store.read(id: id, callbackQueue: callbackQueue) { result in
      world.note("noted")
      completion(result)
    }
  }
}

public func levelExcerpt(_ store: Store) async {
  Repository(store).excerpt(id: 1, callbackQueue: .global()) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelMissingExcerpt(_ store: Store) async {
  Repository(store).excerpt(id: 0, callbackQueue: .global()) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelFlag(_ store: Store) async {
  Repository(store).flag(id: 4) { count in store.world.note("\(count)") }
}

@MainActor
public func levelFlagOnMain(_ store: Store) async {
  Repository(store).flag(id: 4) { count in store.world.note("\(count)") }
}

@MainActor
public func levelExcerptOnMain(_ store: Store) async {
  Repository(store).excerpt(id: 2) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelNoted(_ store: Store) async {
  Repository(store).noted(id: 1, callbackQueue: .global()) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelWords(_ store: Store) async {
  Repository(store).words(id: 7) { result in
    switch result {
    case .success(let count): store.world.note("\(count) words")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelPart(_ store: Store) async {
  Repository(store).words(id: 0) { result in
    switch result {
    case .success(let count): store.world.note("\(count) letters")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelTitle(_ store: Store) async {
  Repository(store).title(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelLength(_ store: Store) async {
  Repository(store).length(id: 2) { length in store.world.note("\(length)") }
}

public func levelCover(_ store: Store) async {
  Repository(store).cover(id: 3) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelPause(_ store: Store) async {
  Repository(store).pause { store.world.note("paused") }
}

public func levelLogged(_ store: Store) async {
  Repository(store).logged(id: 4) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func levelHopeful(_ store: Store) async {
  Repository(store).hopeful(id: 5) { text in store.world.note(text) }
}

public func levelBanner(_ store: Store) async {
  Repository(store).banner(id: 6) { length in store.world.note("\(length)") }
}

public func levelSave(_ store: Store) async {
  Repository(store).save("e") { store.world.note("saved it") }
}
