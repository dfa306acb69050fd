public import Leaves

// Callbacks with values, errors, or nothing.

public func ifErrorElse(_ store: Store) async {
  store.text(id: 1) { text, error in
    if let error {
      store.world.note("failed \(error)")
    } else if let text {
      store.world.note(text)
    }
  }
}

public func ifErrorReturn(_ store: Store) async {
  store.text(id: 1) { text, error in
    if let error {
      store.world.note("failed \(error)")
      return
    }
    store.world.note(text!)
  }
}

public func guardValue(_ store: Store) async {
  store.text(id: 2) { text, _ in
    guard let text else {
      store.world.note("none")
      return
    }
    store.world.note(text)
  }
}

public func guardBoth(_ store: Store) async {
  store.text(id: 2) { text, error in
    guard let text = text, error == nil else {
      store.world.note("failed")
      return
    }
    store.world.note(text)
  }
}

public func guardBothWithError(_ store: Store) async {
  store.text(id: 2) { text, error in
    guard let text, error == nil else {
      store.world.note("failed \(String(describing: error))")
      return
    }
    store.world.note(text)
  }
}

public func valueOrDefault(_ store: Store) async {
  store.text(id: 3) { text, _ in store.world.note(text ?? "none") }
}

public func optionalChain(_ store: Store) async {
  store.text(id: 3) { text, _ in store.world.note("\(text?.count ?? 0)") }
}

public func ifValueThenIfError(_ store: Store) async {
  store.text(id: 3) { text, error in
    if let text { store.world.note(text) }
    if let error { store.world.note("failed \(error)") }
  }
}

public func ifValueThenStatement(_ store: Store) async {
  store.text(id: 4) { text, error in
    if let text { store.world.note(text) }
    store.world.note("in both cases")
  }
}

public func number(_ store: Store) async {
  store.count { count in store.world.note("\(count)") }
}

public func numberTwice(_ store: Store) async {
  store.count { count in
    store.world.note("\(count)")
    store.world.note("\(count + 1)")
  }
}

public func numberEarlyReturn(_ store: Store) async {
  store.count { count in
    if count > 3 { return }
    store.world.note("small")
  }
}

public func twoNumbers(_ store: Store) async {
  store.size { width, height in store.world.note("\(width) x \(height)") }
}

public func shortNumber(_ store: Store) async {
  store.count { store.world.note("\($0)") }
}

public func errorOnly(_ store: Store) async {
  store.save("a") { error in
    if let error { store.world.note("failed \(error)") } else { store.world.note("saved") }
  }
}

public func errorIgnored(_ store: Store) async {
  store.save("b") { _ in store.world.note("came") }
}

public func errorGuard(_ store: Store) async {
  store.save("c") { error in
    guard error == nil else {
      store.world.note("failed")
      return
    }
    store.world.note("saved")
  }
}

public func errorOnlyFailure(_ store: Store) async {
  store.save("d") { error in
    if let error { store.world.note("failed \(error)") }
  }
}

public func nothing(_ store: Store) async {
  store.ping { store.world.note("pong") }
}

public func emptyCallback(_ store: Store) async {
  store.ping {}
}

public func shadowedName(_ store: Store) async {
  let count = 2
  store.world.note("\(count)")
  store.count { count in store.world.note("\(count)") }
}
