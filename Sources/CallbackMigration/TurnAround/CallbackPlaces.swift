/// The queue of each closure or callback that is passed to a callback function, if that function's queue is known.
struct CallbackPlaces {
  /// The arguments of `forward(on:to:)`, by the file and the token: the brace of a closure, or the name of a callback.
  private var contexts: [String: [Int: String]] = [:]

  /// - Parameters:
  ///   - plans: The functions of the package.
  ///   - workspace: The copy, with the compiler's index.
  /// - Throws: An error if the server fails.
  init(_ plans: [CounterpartPlan], _ workspace: MigrationWorkspace) throws(MigrationError) {
    let (calls, functions) = try workspace.calls()
    let callsByTarget = Dictionary(grouping: calls) { call in
      CallbackReach.Node(path: functions[call.target].path, offset: functions[call.target].offset)
    }
    var open = plans.flatMap { plan in plan.inventory.functions.map { ($0, plan.inventory) } }
    var isComplete = false
    while !isComplete {
      isComplete = true
      open.removeAll { function, inventory in
        guard let node = workspace.node(of: function.symbol),
          let context = context(of: function, node, inventory, workspace.files)
        else { return false }
        let failure = function.callbacks.failure.map { function.declaration.parameters[$0].label }
        let labels = [function.declaration.parameters[function.callbacks.completion].label, failure].compactMap(\.self)
        for call in callsByTarget[node] ?? [] {
          note(context, call.site, labels, workspace.files.tokens(call.path), path: call.path)
        }
        isComplete = false
        return true
      }
    }
  }

  /// The known queues in a file.
  subscript(path: String) -> [Int: String] { contexts[path] ?? [:] }

  /// The queue of a function's callback, if each caller can name it: `.main` or `.global()`.
  private func context(
    of function: CallbackFunction,
    _ node: CallbackReach.Node,
    _ inventory: Inventory,
    _ files: SourceFiles
  ) -> String? {
    let tokens = files.tokens(node.path)
    guard let name = tokens.index(at: node.offset), let text = FunctionText(name: name, in: tokens),
      let body = OldBody(of: function, text, in: tokens, callbacks: self[node.path]), !body.worksInline,
      let context = try? WrapperContext(function, body, inventory).text
    else { return nil }
    return [".main", ".global()"].contains(context) ? context : nil
  }

  private mutating func note(
    _ context: String,
    _ site: CallSite?,
    _ labels: [String],
    _ tokens: SourceTokens,
    path: String
  ) {
    guard let site else { return }
    for brace in [site.callback, site.failure].compactMap(\.self) { contexts[path, default: [:]][brace] = context }
    for argument in site.arguments.map(tokens.arguments) ?? [] where argument.value.count == 1 {
      guard labels.contains(argument.label ?? "_") else { continue }
      contexts[path, default: [:]][argument.value.lowerBound] = context
    }
  }
}
