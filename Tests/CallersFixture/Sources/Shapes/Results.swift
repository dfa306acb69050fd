public import Leaves

// Callbacks with a result, and the ways to take it apart.

public func switchBoth(_ store: Store) async {
  store.load(id: 1) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func switchReversed(_ store: Store) async {
  store.load(id: 1) { result in
    switch result {
    case .failure(let error):
      store.world.note("failed \(error)")
    case .success(let text):
      store.world.note(text)
      store.world.note("done")
    }
  }
}

public func switchWithoutError(_ store: Store) async {
  store.load(id: 2) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure: store.world.note("failed")
    }
  }
}

public func switchIgnoringFailure(_ store: Store) async {
  store.load(id: 2) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure: break
    }
  }
}

public func switchIgnoringSuccess(_ store: Store) async {
  store.load(id: 2) { result in
    switch result {
    case .success: break
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func switchWithDefault(_ store: Store) async {
  store.load(id: 3) { result in
    switch result {
    case .success(let text): store.world.note(text)
    default: store.world.note("other")
    }
  }
}

public func switchWithCondition(_ store: Store) async {
  store.load(id: 3) { result in
    switch result {
    case .success(let text) where text.isEmpty: store.world.note("empty")
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func switchThenStatement(_ store: Store) async {
  store.load(id: 4) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
    store.world.note("in both cases")
  }
}

public func statementThenSwitch(_ store: Store) async {
  store.load(id: 4) { result in
    store.world.note("in both cases")
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func ifCaseSuccess(_ store: Store) async {
  store.load(id: 5) { result in
    if case .success(let text) = result { store.world.note(text) }
  }
}

public func ifCaseElse(_ store: Store) async {
  store.load(id: 5) { result in
    if case .success(let text) = result {
      store.world.note(text)
    } else {
      store.world.note("failed")
    }
  }
}

public func ifCaseThenStatement(_ store: Store) async {
  store.load(id: 5) { result in
    if case .success(let text) = result { store.world.note(text) }
    store.world.note("in both cases")
  }
}

public func ifCaseFailure(_ store: Store) async {
  store.load(id: 6) { result in
    if case .failure(let error) = result { store.world.note("failed \(error)") }
  }
}

public func guardCase(_ store: Store) async {
  store.load(id: 6) { result in
    guard case .success(let text) = result else {
      store.world.note("failed")
      return
    }
    store.world.note(text)
  }
}

public func guardSilently(_ store: Store) async {
  store.load(id: 6) { result in
    guard case .success(let text) = result else { return }
    store.world.note(text)
  }
}

public func tryResult(_ store: Store) async {
  store.load(id: 7) { result in
    if let text = try? result.get() { store.world.note(text) } else { store.world.note("none") }
  }
}

public func doCatch(_ store: Store) async {
  store.load(id: 7) { result in
    do {
      store.world.note(try result.get())
    } catch {
      store.world.note("failed \(error)")
    }
  }
}

public func mappedResult(_ store: Store) async {
  store.load(id: 8) { result in
    store.world.note("\(result.map(\.count))")
  }
}

public func wholeResult(_ store: Store) async {
  store.load(id: 8) { result in
    store.world.note("\(result)")
  }
}

public func ignoredResult(_ store: Store) async {
  store.load(id: 8) { _ in store.world.note("came") }
}

public func shortName(_ store: Store) async {
  store.load(id: 9) {
    switch $0 {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func labelledClosure(_ store: Store) async {
  store.load(
    id: 9,
    completion: { result in
      switch result {
      case .success(let text): store.world.note(text)
      case .failure(let error): store.world.note("failed \(error)")
      }
    }
  )
}

public func namedCallback(_ store: Store) async {
  let completion: @Sendable (Result<String, any Error>) -> Void = { store.world.note("\($0)") }
  store.load(id: 9, completion: completion)
}

public func earlyReturn(_ store: Store) async {
  store.load(id: 10) { result in
    switch result {
    case .success(let text):
      if text.count > 3 { return }
      store.world.note("short")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func returnAtTheEnd(_ store: Store) async {
  store.load(id: 10) { result in
    switch result {
    case .success(let text):
      store.world.note(text)
      return
    case .failure(let error):
      store.world.note("failed \(error)")
      return
    }
  }
}

public func voidResult(_ store: Store) async {
  store.remove(id: 11) { result in
    switch result {
    case .success: store.world.note("removed")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func typedFailure(_ store: Store) async {
  store.check(id: 12) { result in
    switch result {
    case .success(let number): store.world.note("\(number)")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func comments(_ store: Store) async {
  // Loads it.
  store.load(id: 13) { result in
    switch result {
    case .success(let text):
      // There is a text.
      store.world.note(text)
    case .failure(let error):
      store.world.note("failed \(error)")  // There is none.
    }
  }
}

public func synchronousCallback(_ store: Store) async {
  store.world.note("before")
  store.loadNow(id: 14) { result in
    switch result {
    case .success(let text): store.world.note(text)
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func nestedCalls(_ store: Store) async {
  store.load(id: 15) { result in
    switch result {
    case .success(let text):
      store.load(id: text.count) { inner in
        switch inner {
        case .success(let text): store.world.note(text)
        case .failure(let error): store.world.note("inner failed \(error)")
        }
      }
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}

public func nestedWithStatement(_ store: Store) async {
  store.load(id: 15) { result in
    switch result {
    case .success(let text):
      store.load(id: text.count) { inner in
        switch inner {
        case .success(let text): store.world.note(text)
        case .failure(let error): store.world.note("inner failed \(error)")
        }
      }
      store.world.note("before the inner callback")
    case .failure(let error): store.world.note("failed \(error)")
    }
  }
}
