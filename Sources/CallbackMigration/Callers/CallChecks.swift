/// The facts of a called function that decide whether its calls can be awaited.
struct CalledFunction {
  /// The title, such as `Store.load(id:completion:)`.
  let title: String

  /// The label of the callback.
  let callbackLabel: String

  /// The possible numbers of arguments without a label before the callback, where the callback has no label itself.
  var unlabelledBefore: ClosedRange<Int>?

  /// The label of the failure closure, if the function has one.
  var failureLabel: String?

  /// Whether the function returns a value and also calls back.
  var returnsValue = true

  /// Whether the callback can get an error.
  var canFail = true

  /// Whether a value of a success can be `nil`.
  var hasOptionalValue = false

  /// The reason why the callback cannot be awaited; `nil` if it can.
  var shapeRefusal: String?

  /// The parameter that names the queue of the callback.
  var queue: CallbackQueue?

  /// Whether the callback is isolated to the main actor.
  var isCallbackOnMainActor = false

  /// Whether each use of the callback in the function is on the main queue.
  var deliversOnMainQueue = false

  /// Whether the function uses the main queue, perhaps for other things than its callback.
  var mightDeliverOnMainQueue = false

  /// Another queue on which the callback comes, if the calls in the function show one.
  var otherQueue: String?

  /// Whether the callback comes before the function returns.
  var isSync = false

  /// Whether the counterpart can end when the task is cancelled.
  var isCounterpartCancellable = false
}

/// The actor to which code is isolated.
enum CodeIsolation: Equatable {
  case none
  case actor(String)

  /// Neither the compiler's graph nor the text shows the isolation.
  case unknown

  static let mainActor = CodeIsolation.actor("@MainActor")
}

/// Finds changes of behaviour that an `await` in place of a call would bring, in the text around the call.
///
/// In doubt it refuses the call: converting a call by hand takes less time than a search for changed behaviour.
struct CallChecks {
  let tokens: SourceTokens
  let site: CallSite
  let scope: CallScope
  let function: CalledFunction

  /// The isolation of the code around the call.
  let isolation: CodeIsolation

  /// The name of the enclosing function's callback, which a call can pass on unchanged.
  var ownCallback: String?

  /// The name of the enclosing function's closure for a failure.
  var ownFailure: String?

  /// The name of the enclosing function's parameter for the queue of its callback.
  var ownQueue: String?

  /// The reasons that no option allows; if there are none, those that an option allows.
  var refusals: [CallRefusal] {
    guard tokens.isBalanced else { return [CallRefusal("the brackets of its file cannot be matched")] }
    let obstacles = [shape, queue, optionalChain, handle, callbackLiteral, callbackPlace, captures].compactMap(\.self)
    guard obstacles.isEmpty else { return obstacles }
    return [
      order, keptTask, loop, deferBlock, lock, thread, otherQueue, weakSelf, mainQueue, callbackIsolation, cancellation,
    ].compactMap(\.self)
  }

  // MARK: Refusals without an option

  private var shape: CallRefusal? { function.shapeRefusal.map { CallRefusal($0) } }

  private var queue: CallRefusal? {
    guard let queue = function.queue,
      queue.isKept || queuePlace == .unknown || queuePlace == .hidden && !onlyForwards
    else { return nil }
    return CallRefusal("its callback comes on the queue that `\(queue.name)` names")
  }

  private var queuePlace: CallbackQueue.Place? { function.queue?.place(at: site, own: ownQueue, in: tokens) }

  /// If the optional is `nil`, the callback never ran, but the code after an await would.
  private var optionalChain: CallRefusal? {
    guard (site.start..<site.name).contains(where: { tokens[$0] == "?" && tokens[$0 + 1] == "." }) else { return nil }
    // `self?` is in a callback with `[weak self]`. The check of captures refuses that callback.
    if tokens[site.start] == "self", tokens[site.start + 1] == "?", isInWeakCallback { return nil }
    return CallRefusal("it is made through an optional, and the code after an await would run without it")
  }

  private var isInWeakCallback: Bool {
    !scope.outerCalls.isEmpty
      && scope.levels.contains { level in
        tokens.closureSignature(at: level.brace)?.captures?.contains { tokens[$0] == "weak" } == true
      }
  }

  private var handle: CallRefusal? {
    if site.use == .returned, !function.returnsValue { return nil }
    guard site.use == .used || site.use == .returned || tokens.isResult(site) && !isAloneInCallback else { return nil }
    guard function.returnsValue else {
      return CallRefusal("it is part of an expression, and an await would make statements of it")
    }
    return CallRefusal("the code keeps or uses what the call returns, such as a handle that cancels")
  }

  /// Whether the call is the only statement of the callback of another call, which returns nothing.
  private var isAloneInCallback: Bool {
    guard !scope.outerCalls.isEmpty, let level = scope.levels.first, case .closure = level.block else { return false }
    return level.brace != scope.body
  }

  private var callbackLiteral: CallRefusal? {
    guard site.callback == nil, !passesOwnCallback else { return nil }
    return CallRefusal("its callback is not a closure at the call")
  }

  /// Only the number of arguments before it tells a callback without a label from another closure.
  private var callbackPlace: CallRefusal? {
    guard let brace = site.callback, let expected = function.unlabelledBefore else { return nil }
    let arguments = site.arguments.map { tokens.arguments(in: $0) } ?? []
    let before = arguments.filter { argument in
      let start = argument.value.lowerBound
      return argument.label == nil && start < brace && !tokens.isInGenericArguments(start)
    }.count
    guard !expected.contains(before) || site.failure == brace else { return nil }
    let reason = "its callback has no label, and the closure can be that of another parameter"
    return CallRefusal("\(reason); write the callback as a trailing closure")
  }

  /// Whether the callback of the enclosing function is the callback of the call.
  var passesOwnCallback: Bool {
    guard let ownCallback, let arguments = site.arguments, site.callback == nil else { return false }
    let label = function.callbackLabel == "_" ? nil : function.callbackLabel
    return tokens.arguments(in: arguments).contains { argument in
      argument.label == label && argument.value.count == 1 && tokens[argument.value.lowerBound] == ownCallback
    }
  }

  /// A capture list copies values when the call begins.
  private var captures: CallRefusal? {
    let copied = captureList.filter { !["self", "weak self", "unowned self", ownCallback, ownFailure].contains($0) }
    guard let first = copied.first else { return nil }
    return CallRefusal("its callback captures `\(first)` in a list, which an await has not")
  }

  /// The reason why the tool writes the new text itself: the compiler's refactoring would change the behaviour.
  ///
  /// If a statement runs after success and after failure, the refactoring keeps it for success only. It does not
  /// convert a function with two closures.
  var ownTextReason: String? {
    if function.failureLabel != nil { return "it takes two closures" }
    if function.queue != nil { return "the counterpart has no queue" }
    // The compiler would take a value that is missing for a failure.
    if function.hasOptionalValue { return "it can succeed without a value" }
    if site.use == .returned { return "it stands after `return`" }
    if weakSelf != nil, hasClosureWithSelf { return "a closure in its callback uses a weak `self`" }
    guard function.canFail, let body = callbackBody, let shape = CallbackBranches(tokens, body, callbackParameters)
    else { return nil }
    return shape.refusal
  }

  private var hasClosureWithSelf: Bool {
    callbackBody?.contains { brace in
      guard tokens[brace] == "{", case .closure = tokens.block(at: brace),
        tokens.statement(withValueOf: brace) == nil
      else { return false }
      return tokens.uses("self", in: tokens.content(of: brace))
    } == true
  }

  /// Whether the callback does nothing after a failure.
  var ignoresFailure: Bool {
    guard function.canFail, function.failureLabel == nil, let body = callbackBody else { return false }
    return CallbackBranches(tokens, body, callbackParameters)?.ignoresFailure == true
  }

  // MARK: Refusals that an option allows

  private var order: CallRefusal? {
    guard !function.isSync, let index = tokens.statement(after: scope) else { return nil }
    let line = tokens.line(index)
    let reason =
      tokens[index] == "return"
      ? "its function returns a value on line \(line) without waiting for the callback"
      : "the statement on line \(line) ran before the callback, and would run after it"
    return CallRefusal(reason, .order)
  }

  private var keptTask: CallRefusal? {
    guard case .task(let callee, isKept: true) = scope.boundary else { return nil }
    return CallRefusal("the task on line \(tokens.line(callee)) is kept, and would end later", .callers)
  }

  private var loop: CallRefusal? {
    guard !function.isSync, scope.levels.contains(where: { $0.block == .loop }) else { return nil }
    return CallRefusal("the calls of the loop ran at once; use a task group, or they run one after another", .loop)
  }

  private var deferBlock: CallRefusal? {
    for level in scope.levels {
      if level.block == .deferred { return CallRefusal("it is in a `defer` block, which cannot await") }
      if function.isSync, !passesOwnCallback { continue }
      let before = level.brace + 1..<max(level.brace + 1, site.start)
      if let found = before.first(where: { tokens[$0] == "defer" && tokens.parent($0) == level.brace }) {
        if function.isSync {
          let place = "the `defer` on line \(tokens.line(found))"
          return CallRefusal("\(place) ran after its callback, and would run before the code after an await")
        }
        let reason = "the `defer` on line \(tokens.line(found)) ran before the callback, and would run after it"
        return CallRefusal(reason, .defer)
      }
    }
    return nil
  }

  private var lock: CallRefusal? {
    guard let body = scope.body, let close = tokens.partner(body) else { return nil }
    let found = (body...close).first { index in
      tokens[index - 1] == "." && Self.lockMembers.contains(tokens[index]) && ["(", "{"].contains(tokens[index + 1])
        || Self.lockTypes.contains(tokens[index])
    }
    return found.map { CallRefusal("`\(tokens[$0])` on line \(tokens.line($0)) is near the call", .lock) }
  }

  private static let lockMembers: Set<String> = [
    "lock", "unlock", "withLock", "withLockUnchecked", "enter", "leave", "wait", "signal", "notify", "sync",
    "withValue",
  ]

  private static let lockTypes: Set<String> = [
    "DispatchGroup", "DispatchSemaphore", "NSLock", "NSRecursiveLock", "NSCondition", "Mutex", "OSAllocatedUnfairLock",
    "os_unfair_lock_lock", "pthread_mutex_lock", "objc_sync_enter",
  ]

  /// Code that asks for its thread or its queue gets another answer after an await.
  private var thread: CallRefusal? {
    guard !function.isSync, isolation != .mainActor || !isOnMain, let body = scope.body,
      let found = tokens.content(of: body).first(where: tokens.asksForThread)
    else { return nil }
    return CallRefusal("`\(tokens[found])` on line \(tokens.line(found)) is near the call", .lock)
  }

  private var weakSelf: CallRefusal? {
    guard let first = captureList.first(where: { $0.hasPrefix("weak") || $0.hasPrefix("unowned") }) else { return nil }
    return CallRefusal("its callback captures `\(first)`, and an await keeps the object until the result", .weakSelf)
  }

  private var mainQueue: CallRefusal? {
    guard let body = callbackBody else { return nil }
    // The queue in `(queue ?? .main).async` is that of the callback.
    let hops = body.compactMap { QueueHop(at: $0, of: ownQueue, in: tokens) }
    let receivers = hops.map { $0.site.start..<$0.site.name }
    guard
      let found = body.first(where: { index in
        tokens.isMainQueue(index) && !receivers.contains { $0.contains(index) }
      })
    else { return nil }
    let reason =
      "its callback hops to the main queue on line \(tokens.line(found)); isolate the counterpart's caller to it"
    return CallRefusal(reason, .mainQueue)
  }

  /// A serial queue can protect what the callback uses.
  private var otherQueue: CallRefusal? {
    let named: String? = if case .other(let name) = queuePlace { name } else { nil }
    guard let name = named ?? (queuePlace == nil ? function.otherQueue : nil), !onlyForwards else { return nil }
    return CallRefusal("its callback comes on the queue `\(name)`, and the code after an await would not", .lock)
  }

  private var callbackIsolation: CallRefusal? {
    if onlyForwards { return nil }
    if queuePlace == .own, let ownQueue {
      let reason = "its callback does more on the queue that `\(ownQueue)` names than pass its result on"
      return CallRefusal(reason, .isolation)
    }
    let verb = isOnMain || !function.mightDeliverOnMainQueue ? "comes" : "might come"
    switch isolation {
    case .mainActor where isOnMain && queuePlace != .global: return nil
    case .none where !isOnMain && !function.mightDeliverOnMainQueue: return nil
    case .unknown:
      return CallRefusal("nothing here says on which actor the code after an await would run", .isolation)
    case .none:
      return CallRefusal("its callback \(verb) on the main queue, and the code after an await would not", .isolation)
    case .actor(let name):
      let place = isOnMain ? "on the main queue" : "outside \(name)"
      return CallRefusal("its callback \(verb) \(place), and the code after an await would run on \(name)", .isolation)
    }
  }

  private var isOnMain: Bool {
    function.isCallbackOnMainActor || function.deliversOnMainQueue || queuePlace == .main
  }

  /// Whether the callback's code can move into a new async function that is isolated as its function is.
  ///
  /// Code that ran on the main queue, or on a queue of the function's caller, would leave that queue.
  var canMove: Bool {
    isolation != .none && queuePlace != .own && !isOnMain && !function.mightDeliverOnMainQueue
  }

  /// Whether the callback only passes its result on to the callback of the function around the call.
  private var onlyForwards: Bool {
    guard let ownCallback else { return false }
    let check = ForwardingCheck(
      tokens: tokens,
      callbacks: [ownCallback, ownFailure].compactMap(\.self),
      queue: ownQueue
    )
    return [site.callback, site.failure].compactMap(\.self).allSatisfy(check.onlyForwards(closureAt:))
  }

  private var cancellation: CallRefusal? {
    guard function.isCounterpartCancellable, !scope.isInUnkeptTask else { return nil }
    return CallRefusal("its counterpart ends early when its task is cancelled, and a callback does not", .cancellation)
  }

  // MARK: Parts of the call

  private var signature: ClosureSignature? { site.callback.flatMap(tokens.closureSignature) }

  private var callbackParameters: [String] { signature?.parameters ?? [] }

  /// The tokens of the callback's statements.
  private var callbackBody: Range<Int>? {
    guard let brace = site.callback, let close = tokens.partner(brace) else { return nil }
    return ((signature?.end ?? brace) + 1)..<close
  }

  /// Each name that the callback or the closure for a failure captures, with its specifier, such as `weak self`.
  private var captureList: [String] {
    let braces = [site.callback, site.failure].compactMap(\.self)
    return braces.compactMap { tokens.closureSignature(at: $0)?.captures }.flatMap { range in
      range.dropFirst().dropLast().split { tokens[$0] == "," && tokens.parent($0) == range.lowerBound }.map { part in
        part.map { tokens[$0] }.joined(separator: " ")
      }
    }
  }
}

extension SourceTokens {
  /// Whether a token begins an expression whose value depends on the thread or the queue.
  fileprivate func asksForThread(_ index: Int) -> Bool {
    switch self[index] {
    case "dispatchPrecondition", "pthread_self", "pthread_main_np", "CFRunLoopGetCurrent": self[index + 1] == "("
    case "Thread": self[index + 1] == "." && ["current", "isMainThread"].contains(self[index + 2])
    case "RunLoop", "OperationQueue": self[index + 1] == "." && self[index + 2] == "current"
    case "DispatchQueue": self[index + 1] == "." && self[index + 2] == "getSpecific"
    default: false
    }
  }

  /// Whether a token begins the name of the main queue, or of the main actor.
  func isMainQueue(_ index: Int) -> Bool {
    if self[index] == ".", self[index + 1] == "main", self[index - 1] == ":" {
      return self[index - 2] == "on" || self[index - 2].lowercased().hasSuffix("queue")
    }
    // `queue ?? .main`
    if self[index] == ".", self[index + 1] == "main", self[index - 1] == "?", self[index - 2] == "?" { return true }
    return ["DispatchQueue", "OperationQueue", "RunLoop"].contains(self[index]) && self[index + 1] == "."
      && self[index + 2] == "main" || self[index] == "MainActor" || self[index] == "@MainActor"
  }
}
