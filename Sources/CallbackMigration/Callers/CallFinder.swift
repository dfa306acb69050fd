internal import Foundation

/// Finds the calls of functions that take a callback, and classifies them.
struct CallFinder {
  let server: LanguageServer
  let copy: PackageCopy
  let files: SourceFiles
  let isolation: CodeIsolationFacts
  let allowed: Set<CallRisk>

  /// A place in the source that names a function; `target` is the index of the function.
  private struct Reference {
    let target: Int
    let path: String
    let name: Int
  }

  /// Finds the calls, sorted by file and line.
  /// - Parameter functions: The functions, to which the search adds facts.
  /// - Returns: The calls.
  /// - Throws: An error if the server fails.
  func calls(of functions: inout [AwaitableFunction]) throws(MigrationError) -> [CallbackCall] {
    for index in functions.indices { refuseForeignCounterpart(of: &functions[index]) }
    // A private or synchronous function that cannot get a counterpart does not block the functions that call it.
    let references = try references(to: functions).filter {
      let function = functions[$0.target]
      return !function.isLocalStep || function.hasCounterpart || function.counterpart == .writable
    }
    var calls: [CallbackCall] = []
    for (path, group) in Dictionary(grouping: references, by: \.path).sorted(by: { $0.key < $1.key }) {
      let declarations = try declarations(of: path)
      calls += self.calls(group.sorted { $0.name < $1.name }, files.tokens(path), declarations, functions)
    }
    try completeFacts(of: &functions, calls)
    try check(&calls, functions)
    return calls
  }

  /// The calls of a file.
  private func calls(
    _ references: [Reference],
    _ tokens: SourceTokens,
    _ declarations: EnclosingDeclarations,
    _ functions: [AwaitableFunction]
  ) -> [CallbackCall] {
    let all = references.map { reference in
      let called = functions[reference.target].called
      return CallSite(
        name: reference.name,
        in: tokens,
        label: called.callbackLabel,
        failureLabel: called.failureLabel
      )
    }
    var kept = Array(references.indices)
    while true {
      var callbacks: [Int: CallSite] = [:]
      for site in kept.compactMap({ all[$0] }) {
        for brace in [site.callback, site.failure].compactMap(\.self) { callbacks[brace] = site }
      }
      let calls = kept.map { index in
        let scope = all[index].map { CallScope(of: $0, in: tokens, callbacks: callbacks) }
        return call(references[index], all[index], scope, declarations, functions)
      }
      // A synchronous call that stays keeps its closure. Calls in that closure are classified again.
      let staying = Set(zip(kept, calls).filter { $1 == nil && functions[references[$0].target].isSync }.map(\.0))
      guard !staying.isEmpty else { return calls.compactMap(\.self) }
      kept.removeAll(where: staying.contains)
    }
  }

  // MARK: References

  private func references(to functions: [AwaitableFunction]) throws(MigrationError) -> [Reference] {
    var found: [Reference] = []
    var done = 0
    for (path, group) in Dictionary(grouping: functions.indices, by: { functions[$0].path }).sorted(by: {
      $0.key < $1.key
    }) {
      let source = files.tokens(path).source
      try server.open(path, source.text)
      for index in group.sorted() {
        for place in try server.references(path, source.position(of: functions[index].offset)) {
          guard place.path.hasPrefix(copy.folder.path + "/") else { continue }
          let tokens = files.tokens(place.path)
          guard let offset = tokens.source.offset(of: place.position), let name = tokens.index(at: offset) else {
            continue
          }
          found.append(Reference(target: index, path: place.path, name: name))
        }
        done += 1
        if done.isMultiple(of: 100) {
          Shell.progress("Looked up the calls of \(done) of \(functions.count) functions.")
        }
      }
    }
    return found
  }

  func declarations(of path: String) throws(MigrationError) -> EnclosingDeclarations {
    try server.open(path, files.tokens(path).source.text)
    return EnclosingDeclarations(try server.symbols(path))
  }

  // MARK: Classes

  /// Classifies a reference; `nil` for a call without a callback, and for the call in a counterpart.
  private func call(
    _ reference: Reference,
    _ site: CallSite?,
    _ scope: CallScope?,
    _ declarations: EnclosingDeclarations,
    _ functions: [AwaitableFunction]
  ) -> CallbackCall? {
    let tokens = files.tokens(reference.path)
    let function = functions[reference.target]
    if files.isGenerated(reference.path) { return nil }
    // Without a callback there is nothing to await.
    if let site, !site.givesCallback, function.canOmitCallback { return nil }
    let offset = tokens.items[reference.name].range.lowerBound
    let (title, _) = declarations.around(tokens.source.position(of: offset))
    let counterparts = [function.counterpartTitle, function.futureTitle].map { function.type + $0 }
    if counterparts.contains(title) { return nil }
    var call = CallbackCall(
      file: String(reference.path.dropFirst(copy.folder.path.count + 1)),
      line: tokens.line(reference.name),
      function: function.title,
      enclosing: title,
      callClass: .byHand,
      place: .edge,
      target: reference.target
    )
    call.path = reference.path
    guard let site, let scope else {
      if function.isSync { return nil }
      call.place = .byHand
      call.refusals = [CallRefusal("the code names the function without calling it")]
      return call
    }
    call.site = site
    call.scope = scope
    call.isInsideAnotherCall = !scope.outerCalls.isEmpty
    if case .function(let name, _) = scope.boundary {
      let place = tokens.items[name].range.lowerBound
      call.owner = functions.firstIndex { $0.path == reference.path && $0.offset == place }
    }
    call.place = scope.isAsync ? .ready : call.owner == nil ? .edge : .next
    // The call of a synchronous function stays, unless it uses the callback of the function around it.
    if function.isSync {
      guard call.place == .next, let owner = call.owner else { return nil }
      let names = [functions[owner].callbackName, functions[owner].failureName]
      guard (site.start...site.end).contains(where: { names.contains(tokens[$0]) && tokens[$0 - 1] != "." }) else {
        return nil
      }
    }
    if case .closure(_, isAsync: true) = scope.boundary {
      call.place = .byHand
      call.refusals = [CallRefusal("it is in an async closure of another function")]
    }
    if call.place == .next, functions[reference.target].path == reference.path, call.owner == reference.target {
      call.refusals = [CallRefusal("the function calls itself")]
    }
    return call
  }

  /// Performs the checks that need the facts of all functions.
  private func check(_ calls: inout [CallbackCall], _ functions: [AwaitableFunction]) throws(MigrationError) {
    var awaiters = AwaiterCheck(finder: self)
    for index in calls.indices {
      let call = calls[index]
      guard let site = call.site, let scope = call.scope, call.place == .ready || call.place == .next else { continue }
      let tokens = files.tokens(call.path)
      let type = call.enclosing.split(separator: ".").dropLast().joined(separator: ".")
      let checks = CallChecks(
        tokens: tokens,
        site: site,
        scope: scope,
        function: functions[call.target].called,
        isolation: isolation.isolation(
          of: scope,
          tokens,
          path: copy.original(call.path),
          type: type.isEmpty ? nil : type
        ) { files.originalLine(of: $0, in: call.path) },
        ownCallback: call.owner.map { functions[$0].callbackName },
        ownFailure: call.owner.flatMap { functions[$0].failureName },
        ownQueue: call.owner.flatMap { functions[$0].called.queue?.name }
      )
      calls[index].ownTextReason = checks.ownTextReason
      calls[index].ignoresFailure = checks.ignoresFailure
      var refusals = call.refusals + checks.refusals
      if call.place == .next {
        // The call moves into a new async function, which has no callers yet that could be cancelled.
        refusals.removeAll { $0.risk == .cancellation || $0.risk == .isolation && checks.canMove }
      } else if case .function(let name, _) = scope.boundary {
        if let reason = try awaiters.reason(call.path, name) { refusals.append(CallRefusal(reason, .callers)) }
      }
      if let rival = functions.rival(of: call, in: tokens) {
        refusals.append(CallRefusal("an await without the callback could call the counterpart of `\(rival.title)`"))
      }
      calls[index].refusals = refusals
    }
    refuseOuterCalls(&calls)
    for index in calls.indices {
      let call = calls[index]
      let isConvertible = call.place != .byHand && (call.place == .edge || !call.refusals.contains(where: isRefused))
      calls[index].callClass = isConvertible ? call.place : .byHand
      // Reasons that the user has not accepted come first.
      calls[index].refusals = call.refusals.filter(isRefused) + call.refusals.filter { !isRefused($0) }
    }
  }

  private func isRefused(_ refusal: CallRefusal) -> Bool { refusal.risk.map { !allowed.contains($0) } ?? true }

  /// Refuses each call around a refused call: the refactoring of a call also converts the calls in its callback.
  private func refuseOuterCalls(_ calls: inout [CallbackCall]) {
    for call in calls where call.refusals.contains(where: isRefused) {
      guard let reason = call.refusals.first(where: isRefused), let scope = call.scope else { continue }
      for outer in calls.indices where calls[outer].path == call.path {
        guard let site = calls[outer].site, scope.outerCalls.contains(site.name) else { continue }
        calls[outer].refusals.append(CallRefusal("of the call on line \(call.line): \(reason.reason)", reason.risk))
      }
    }
  }

  // MARK: Facts

  /// Adds whether the callback comes on the main queue, and whether the counterpart can be cancelled.
  private func completeFacts(
    of functions: inout [AwaitableFunction],
    _ calls: [CallbackCall]
  ) throws(MigrationError) {
    let queues = functions.map { function -> String? in
      let tokens = files.tokens(function.path)
      guard let body = function.text(in: tokens)?.body else { return nil }
      return DeliveryQueue.name(of: function, in: body, tokens)
    }
    let isMissing = functions.map { $0.text(in: files.tokens($0.path))?.body == nil }
    var others = queues
    for index in functions.indices where isMissing[index] {
      // A requirement has no body. Its callback comes on the queue of its implementations.
      others[index] = functions.indices.first { functions[$0].name == functions[index].name && queues[$0] != nil }
        .flatMap { queues[$0] }
    }
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for call in calls {
        guard let owner = call.owner, others[owner] == nil else { continue }
        let place = queuePlace(of: call, functions)
        others[owner] = otherQueue(place, own: functions[owner].called.queue?.name, called: others[call.target])
        hasChanged = hasChanged || others[owner] != nil
      }
    }
    let main = MainQueueDelivery(functions, calls, files) { queuePlace(of: $0, functions) }
    for index in functions.indices { completeCounterpart(of: &functions[index]) }
    let uncancellable = try uncancellableCounterparts(of: functions)
    for index in functions.indices {
      functions[index].called.deliversOnMainQueue = main.isSure[index]
      functions[index].called.mightDeliverOnMainQueue = main.isPossible[index]
      functions[index].called.otherQueue = others[index]
      if functions[index].hasCounterpart {
        functions[index].called.isCounterpartCancellable = !functions[index].isSync && !uncancellable.contains(index)
      }
    }
  }

  /// The queue that a call names for its callback; `nil` if the called function has no parameter for that.
  private func queuePlace(of call: CallbackCall, _ functions: [AwaitableFunction]) -> CallbackQueue.Place? {
    guard let site = call.site, let queue = functions[call.target].called.queue else { return nil }
    let own = call.owner.flatMap { functions[$0].called.queue?.name }
    return queue.place(at: site, own: own, in: files.tokens(call.path))
  }

  /// The queue, other than the main queue, on which the callback of a call comes without a word of its caller.
  private func otherQueue(_ place: CallbackQueue.Place?, own: String?, called: String?) -> String? {
    switch place {
    case .other(let text):
      guard let own, text.hasPrefix(own + "??") else { return text }
      let other = String(text.dropFirst(own.count + 2))
      return other.hasSuffix(".main") ? nil : other
    case nil, .hidden: return called
    case .main, .global, .own, .unknown: return nil
    }
  }

  /// Refuses a synchronous counterpart that the tool has not written, because it might do something else.
  ///
  /// An example is a function that reads a cache, beside a loader of the same name.
  private func refuseForeignCounterpart(of function: inout AwaitableFunction) {
    guard function.isSync, case .exists(let file) = function.counterpart else { return }
    let path = copy.copied(file)
    let sentence = "The synchronous counterpart of ``\(function.name)``"
    guard !files.isGenerated(path), !files.tokens(path).source.text.contains(sentence) else { return }
    function.counterpart = .refused("nothing says that `\(function.counterpartTitle)`, which is there, does the same")
  }

  /// Reads from the text whether a counterpart throws, was written by `generate`, or waits for the callback.
  private func completeCounterpart(of function: inout AwaitableFunction) {
    guard case .exists(let file) = function.counterpart else { return }
    let path = copy.copied(file)
    let tokens = files.tokens(path)
    let texts = FunctionText.all(titled: function.counterpartTitle, in: tokens).filter { $0.isAsync != function.isSync }
    function.isCounterpartGenerated = files.isGenerated(path)
    function.isCounterpartWaiting = texts.isEmpty || texts.contains { function.isCalled(in: $0, tokens) }
    function.canCounterpartThrow =
      texts.isEmpty
      ? function.called.canFail
      : texts.contains { text in
        let end = text.body?.lowerBound ?? tokens.items.count
        return (text.name..<end).contains { tokens[$0] == "throws" && tokens.parent($0) == tokens.parent(text.name) }
      }
  }

  /// Returns the functions whose counterpart cannot be cancelled: it awaits only continuations and such counterparts.
  private func uncancellableCounterparts(of functions: [AwaitableFunction]) throws(MigrationError) -> Set<Int> {
    var declarations: [Int: [SourcePlace]] = [:]
    var awaited: [Int: [SourcePlace]] = [:]
    for index in functions.indices {
      guard case .exists(let file) = functions[index].counterpart else { continue }
      let path = copy.copied(file)
      let tokens = files.tokens(path)
      let enclosing = try self.declarations(of: path)
      let title = functions[index].type + functions[index].counterpartTitle
      let texts = FunctionText.all(titled: functions[index].counterpartTitle, in: tokens).filter { text in
        text.isAsync && enclosing.around(place(of: text.name, path, tokens).position).title == title
      }
      guard !texts.isEmpty else { continue }
      var places: [SourcePlace]? = []
      for text in texts {
        guard let found = try functionsAwaited(by: text, path, tokens) else {
          places = nil
          break
        }
        places? += found
      }
      awaited[index] = places
      declarations[index] = texts.map { place(of: $0.name, path, tokens) }
    }
    var result: Set<Int> = []
    var known: Set<SourcePlace> = []
    while let index = awaited.keys.sorted().first(where: { index in
      !result.contains(index) && awaited[index]?.allSatisfy(known.contains) == true
    }) {
      result.insert(index)
      known.formUnion(declarations[index] ?? [])
    }
    return result
  }

  /// The functions that an async function awaits, without continuations; `nil` if it can notice a cancellation.
  private func functionsAwaited(
    by text: FunctionText,
    _ path: String,
    _ tokens: SourceTokens
  ) throws(MigrationError) -> [SourcePlace]? {
    guard let body = text.body, !body.contains(where: { tokens[$0] == "Task" && tokens[$0 + 1] == "." }) else {
      return nil
    }
    try server.open(path, tokens.source.text)
    var found: [SourcePlace] = []
    for index in body where tokens[index] == "await" {
      var name = index + 1
      while SourceTokens.isWord(tokens[name]), tokens[name + 1] == "." { name += 2 }
      if Self.continuations.contains(tokens[name]) { continue }
      let definitions = try server.definitions(path, place(of: name, path, tokens).position)
      guard !definitions.isEmpty else { return nil }
      found += definitions
    }
    return found
  }

  private func place(of token: Int, _ path: String, _ tokens: SourceTokens) -> SourcePlace {
    SourcePlace(path: path, position: tokens.source.position(of: tokens.items[token].range.lowerBound))
  }

  private static let continuations: Set<String> = [
    "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
    "withUnsafeThrowingContinuation",
  ]
}
