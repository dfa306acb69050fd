public import Foundation
public import Leaves

// The code around a call.

public func statementAfter(_ store: Store) async {
  store.count { store.world.note("\($0)") }
  store.world.note("after")
}

/// A type with a function named as the counterpart of the function it calls.
struct Adapter: Sendable {
  let store: Store
  func count() async {
    store.count { count in store.world.note("\(count)") }
  }
}

public func adapterOfTheSameName(_ store: Store) async { await Adapter(store: store).count() }

/// Its function is awaited through a protocol, and something follows there.
protocol Refreshing {
  func refresh() async
}

struct Refresher: Refreshing {
  let store: Store
  func refresh() async {
    store.count { count in store.world.note("\(count)") }
  }
}

public func awaitedThroughAProtocol(_ store: Store) async {
  let refresher: any Refreshing = Refresher(store: store)
  await refresher.refresh()
  store.world.note("after")
}

public func statementAfterTheBlock(_ store: Store) async {
  if store.world.outcome == .success {
    store.count { count in store.world.note("\(count)") }
  }
  store.world.note("after")
}

public func branches(_ store: Store) async {
  if store.world.outcome == .success {
    store.count { count in store.world.note("\(count)") }
  } else {
    store.ping { store.world.note("pong") }
  }
}

public func cases(_ store: Store) async {
  switch store.world.outcome {
  case .success:
    store.count { count in store.world.note("\(count)") }
  case .failure:
    store.world.note("no call")
  }
}

public func guarded(_ store: Store) async {
  guard store.world.outcome == .success else {
    store.world.note("no call")
    return
  }
  store.count { count in store.world.note("\(count)") }
}

public func returnAfter(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
  return
}

public func valueAfter(_ store: Store) async -> Int {
  store.count { count in store.world.note("\(count)") }
  return 3
}

public func twoCalls(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
  store.ping { store.world.note("pong") }
}

public func loop(_ store: Store) async {
  for id in 1...3 {
    store.load(id: id) { result in
      switch result {
      case .success(let text): store.world.note(text)
      case .failure(let error): store.world.note("failed \(error)")
      }
    }
  }
}

public func whileLoop(_ store: Store) async {
  var left = 2
  while left > 0 {
    left -= 1
    store.count { count in store.world.note("\(count)") }
  }
}

public func closureLoop(_ store: Store) async {
  [1, 2].forEach { id in
    store.load(id: id) { result in
      switch result {
      case .success(let text): store.world.note(text)
      case .failure(let error): store.world.note("failed \(error)")
      }
    }
  }
}

public func deferred(_ store: Store) async {
  defer { store.world.note("deferred") }
  store.count { count in store.world.note("\(count)") }
}

public func group(_ store: Store) async {
  let group = DispatchGroup()
  group.enter()
  store.count { count in
    store.world.note("\(count)")
    group.leave()
  }
}

public func locked(_ store: Store) async {
  let lock = NSLock()
  lock.withLock {
    store.count { count in store.world.note("\(count)") }
  }
}

public func lockedInCallback(_ store: Store) async {
  let lock = NSLock()
  store.count { count in
    lock.lock()
    store.world.note("\(count)")
    lock.unlock()
  }
}

public func doBlock(_ store: Store) async {
  do {
    try Task.checkCancellation()
    store.count { count in store.world.note("\(count)") }
  } catch {
    store.world.note("cancelled")
  }
}

public func inTask(_ store: Store) {
  Task {
    store.count { count in store.world.note("\(count)") }
  }
}

public func inTaskThenStatement(_ store: Store) {
  Task {
    store.count { count in store.world.note("\(count)") }
    store.world.note("in the task")
  }
}

public func keptTask(_ store: Store) async {
  let task = Task {
    store.count { count in store.world.note("\(count)") }
  }
  await task.value
}

public func synchronous(_ store: Store) {
  store.count { count in store.world.note("\(count)") }
}

public func callee(_ store: Store) async {
  await called(store)
  store.world.note("after the callee")
}

func called(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
}

public func lastCallee(_ store: Store) async {
  await calledLast(store)
}

func calledLast(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
}

public func asValue(_ store: Store) async {
  let work = usedAsValue
  await work(store)
  store.world.note("after the value")
}

func usedAsValue(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
}

public func throwing(_ store: Store) async throws {
  store.load(id: 1) { result in
    if case .success(let text) = result { store.world.note(text) }
  }
}

public func conditional(_ store: Store) async {
  #if DEBUG
    store.count { count in store.world.note("\(count)") }
  #else
    store.ping { store.world.note("pong") }
  #endif
}
