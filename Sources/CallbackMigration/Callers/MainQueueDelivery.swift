/// Finds out which functions run their callback on the main queue, as far as the bodies show.
struct MainQueueDelivery {
  /// Whether each use of the callback is on the main queue, by the index of the function.
  private(set) var isSure: [Bool]

  /// Whether the function, or a function that it calls, uses the main queue for anything.
  private(set) var isPossible: [Bool]

  /// The closures and passed callbacks that run on the main queue, as ``OldBody`` knows them.
  private var callbacks: [String: [Int: String]] = [:]
  private let files: SourceFiles

  /// - Parameters:
  ///   - functions: The functions.
  ///   - calls: The calls of the functions.
  ///   - files: The files of the functions and the calls.
  ///   - queue: The queue that a call names.
  init(
    _ functions: [AwaitableFunction],
    _ calls: [CallbackCall],
    _ files: SourceFiles,
    queue: (CallbackCall) -> CallbackQueue.Place?
  ) {
    self.files = files
    isSure = functions.map { _ in false }
    isPossible = functions.map { function in
      let tokens = files.tokens(function.path)
      return function.text(in: tokens)?.body?.contains(where: tokens.isMainQueue) == true
    }
    let implementations = functions.indices.map { Self.implementations(of: $0, functions, files) }
    let places = calls.map(queue)
    for (call, place) in zip(calls, places)
    where place == .main || functions[call.target].called.isCallbackOnMainActor {
      note(call, functions[call.target])
      if let owner = call.owner { isPossible[owner] = true }
    }
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for index in functions.indices {
        if !isPossible[index], implementations[index].contains(where: { isPossible[$0] }) {
          isPossible[index] = true
          hasChanged = true
        }
        let body = body(of: functions[index])
        let areSure = !implementations[index].isEmpty && implementations[index].allSatisfy { isSure[$0] }
        let isOnMain = body?.isOnMainQueue ?? areSure
        guard !isSure[index], isOnMain else { continue }
        isSure[index] = true
        isPossible[index] = true
        hasChanged = true
        for (call, place) in zip(calls, places) where call.target == index && [nil, .hidden].contains(place) {
          // A call in the body itself comes on the thread of the function's own caller.
          if body?.hasInlineCall != true || isInBody(call) { note(call, functions[index]) }
        }
      }
      for call in calls {
        guard let owner = call.owner, isPossible[call.target], !isPossible[owner] else { continue }
        isPossible[owner] = true
        hasChanged = true
      }
    }
  }

  /// The functions that implement a requirement, which has no body.
  private static func implementations(
    of index: Int,
    _ functions: [AwaitableFunction],
    _ files: SourceFiles
  ) -> [Int] {
    let hasBody = { (function: AwaitableFunction) in function.text(in: files.tokens(function.path))?.body != nil }
    guard !hasBody(functions[index]) else { return [] }
    return functions.indices.filter { functions[$0].name == functions[index].name && hasBody(functions[$0]) }
  }

  private func body(of function: AwaitableFunction) -> OldBody? {
    let tokens = files.tokens(function.path)
    let names = [function.callbackName, function.failureName].compactMap(\.self)
    return function.text(in: tokens).flatMap {
      OldBody($0, in: tokens, of: names, callbacks: callbacks[function.path] ?? [:])
    }
  }

  /// Whether a call stands in the body of its function, and not in a closure.
  private func isInBody(_ call: CallbackCall) -> Bool {
    let tokens = files.tokens(call.path)
    guard let site = call.site, let brace = tokens.closureOrFunction(around: site.name) else { return false }
    if case .function = tokens.block(at: brace) { return true } else { return false }
  }

  private mutating func note(_ call: CallbackCall, _ function: AwaitableFunction) {
    guard let site = call.site else { return }
    let tokens = files.tokens(call.path)
    let labels = [function.called.callbackLabel, function.failureLabel].compactMap(\.self)
    for brace in [site.callback, site.failure].compactMap(\.self) {
      callbacks[call.path, default: [:]][brace] = ".main"
    }
    for argument in site.arguments.map(tokens.arguments) ?? [] where argument.value.count == 1 {
      guard labels.contains(argument.label ?? "_") else { continue }
      callbacks[call.path, default: [:]][argument.value.lowerBound] = ".main"
    }
  }
}
