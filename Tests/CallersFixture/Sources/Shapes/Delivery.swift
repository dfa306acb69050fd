public import Foundation
public import Leaves

// Where and how often a callback comes, and its captures.

public final class Screen: Sendable {
  let store: Store

  public init(_ store: Store) { self.store = store }

  func show(_ text: String) { store.world.note("shows \(text)") }

  public func weakly() async {
    store.count { [weak self] count in self?.show("\(count)") }
  }

  public func weaklyGuarded() async {
    store.count { [weak self] count in
      guard let self else { return }
      show("\(count)")
    }
  }

  public func unowned() async {
    store.count { [unowned self] count in show("\(count)") }
  }

  public func strongly() async {
    store.count { count in self.show("\(count)") }
  }

  public func strongList() async {
    store.count { [self] count in show("\(count)") }
  }
}

@MainActor
public final class MainScreen {
  let store: Store

  public nonisolated init(_ store: Store) { self.store = store }

  func show(_ text: String) { store.world.note("shows \(text)") }

  public func onMainActor() async {
    let world = store.world
    store.count { count in world.note("\(count)") }
  }

  public func isolatedCallback() async {
    store.loadForScreen(id: 1) { result in
      switch result {
      case .success(let text): self.show(text)
      case .failure(let error): self.show("failed \(error)")
      }
    }
  }

  public func onQueue() async {
    let world = store.world
    store.read(id: 1, callbackQueue: .main) { result in
      switch result {
      case .success(let text): world.note(text)
      case .failure(let error): world.note("failed \(error)")
      }
    }
  }

  public func fromTheMainQueue() async {
    let world = store.world
    store.loadOnMain(id: 1) { result in
      switch result {
      case .success(let text): world.note(text)
      case .failure(let error): world.note("failed \(error)")
      }
    }
  }
}

public func onMainQueue(_ store: Store) async {
  store.loadOnMain(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func isolatedElsewhere(_ store: Store) async {
  store.loadForScreen(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func hopsToMain(_ store: Store) async {
  store.count { count in
    DispatchQueue.main.async { store.world.note("\(count)") }
  }
}

public func onQueue(_ store: Store) async {
  store.read(id: 1, callbackQueue: .main) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func onGlobalQueue(_ store: Store) async {
  store.read(id: 1, callbackQueue: .global()) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func onOtherQueue(_ store: Store) async {
  let queue = DispatchQueue(label: "other")
  store.read(id: 1, callbackQueue: queue) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func repeating(_ store: Store) async {
  store.observe { number in store.world.note("\(number)") }
}

public func never(_ store: Store) async {
  store.maybe(id: 1) { text in store.world.note(text) }
}

public func keptHandle(_ store: Store) async {
  let download = store.download(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
  if store.world.outcome == .failure { download.cancel() }
}

public func ignoredHandle(_ store: Store) async {
  _ = store.download(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func cancellableCounterpart(_ store: Store) async {
  store.download(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func cancellableOfTheSameName(_ store: Store) async {
  let poller = Poller(store.world)
  poller.count { count in store.world.note("\(count)") }
}

public func cancellableInside(_ store: Store) async {
  store.measured { count in store.world.note("\(count)") }
}

public func cancellableInTask(_ store: Store) {
  Task {
    store.download(id: 1) { result in
      switch result {
      case .success(let text): store.world.note(text)
      case .failure(let error): store.world.note("failed \(error)")
      }
    }
  }
}

public func copied(_ store: Store) async {
  var number = 1
  store.count { [number] count in store.world.note("\(count + number)") }
  number = 2
}

public func optionalStore(_ store: Store?) async {
  store?.count { count in store?.world.note("\(count)") }
}

public func taskInCallback(_ store: Store) async {
  store.count { count in
    Task { store.world.note("\(count)") }
  }
}

public func returnedHandle(_ store: Store) async -> Store.Download {
  store.download(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}
