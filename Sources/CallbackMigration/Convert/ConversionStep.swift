/// The changes for one function: its new async counterpart, or calls that await one, or both.
struct ConversionStep {
  /// A group of text changes that stay or go together.
  enum Part: Hashable {
    /// The changes of the step with this index.
    case step(Int)

    /// The attribute that names the counterpart of the function with this index.
    case attribute(function: Int)
  }

  /// The async counterpart that a step adds.
  enum Counterpart {
    case new

    /// A counterpart that does the work itself, in place of a generated one that waits for the callback.
    case replacesGenerated
  }

  /// The index of the function.
  let function: Int
  let title: String
  let counterpart: Counterpart?

  /// Whether the counterpart is synchronous.
  var isSync = false

  /// The owner of the changed file; `nil` if the file has none, or if the commits are not by owners.
  var owner: String?

  /// Whether the step adds the attribute that names the counterpart.
  ///
  /// A step does not change the file of another owner.
  var isNaming = true

  /// The earlier steps that this step needs.
  var needed: Set<Int> = []

  /// The calls and the function, for the report if the step is left out.
  var calls: [Conversion.LeftCode] = []
  var declaration: Conversion.LeftCode?

  /// The number of converted calls in public async functions.
  var publicCount = 0

  /// The changes of behaviour that the step brings, and that `--allow` accepts.
  var risks: Set<CallRisk> = []

  /// A sentence that says what the step changes.
  var summary: String {
    let count = CallersReport.plural(calls.count, "call")
    let awaits = "\(count) \(calls.count == 1 ? "awaits" : "await")"
    switch counterpart {
    case nil: return "\(awaits) the async counterpart of \(title)"
    case .new where isSync: return "\(title) gets a synchronous counterpart"
    case .new: return "\(title) gets an async counterpart" + (calls.isEmpty ? "" : "; \(awaits) it")
    case .replacesGenerated:
      return "The async counterpart of \(title) does the work itself" + (calls.isEmpty ? "" : "; \(awaits) it")
    }
  }

  /// Returns the entries of the report if the step is left out.
  func left(_ reason: String) -> [Conversion.LeftCode] {
    ([declaration].compactMap(\.self) + calls).map { call in
      // Without the line number, which counts lines that other steps insert.
      let path = call.place.split(separator: ":").first.map(String.init) ?? call.place
      return Conversion.LeftCode(place: path, title: call.title, reason: reason)
    }
  }

  /// The message of a commit.
  /// - Parameters:
  ///   - steps: The steps of the commit: one, or all of an owner.
  ///   - byOwner: Whether each owner has commits of its own.
  ///   - isTested: Whether the package's tests pass with these steps.
  ///   - built: The parts of the project that the copy builds.
  /// - Returns: A line with the change, and then each check on a line.
  static func message(
    of steps: [ConversionStep],
    byOwner: Bool = false,
    isTested: Bool,
    built: String = "package with its tests"
  ) -> String {
    let replacement = "replaces the counterpart that `generate` wrote"
    var lines = [steps[0].summary, ""]
    if byOwner {
      let owner = steps[0].owner.map { "of \($0)" } ?? "without an owner"
      lines = ["Async counterparts and awaits in the code \(owner)", ""]
      lines += steps.map { step in
        "- " + step.summary + (step.counterpart == .replacesGenerated ? ", and \(replacement)" : "")
      }
      lines.append("")
    } else if steps[0].counterpart == .replacesGenerated {
      lines.append("It \(replacement), which waits for the callback.")
    }
    let risks = Set(steps.flatMap(\.risks))
    if !risks.isEmpty {
      let names = CallRisk.allCases.filter(risks.contains).map(\.rawValue).joined(separator: ",")
      lines.append("Accepted changes of behaviour: --allow \(names)")
    }
    lines.append("Built: the \(built).")
    lines.append(isTested ? "Tests: `swift test` passes before and after this commit." : "Tests: not run.")
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The steps of a conversion, each of which needs only earlier steps.
struct ConversionSteps {
  private(set) var all: [ConversionStep] = []

  /// The last step of each function and owner.
  private var latest: [Place: Int] = [:]

  private struct Place: Hashable {
    let function: Int
    let owner: String?
  }

  /// For each function that had no counterpart, the step that adds one.
  private var first: [Int: Int] = [:]

  /// Puts a change into a step.
  /// - Parameters:
  ///   - change: The change.
  ///   - touched: The steps that inserted the text around the change.
  ///   - calls: The calls of the package.
  ///   - functions: The functions of the package.
  ///   - copy: The copy of the package.
  ///   - owner: Returns the owner of a file, if the commits are by owners. A step has changes of one owner.
  /// - Returns: The index of the step.
  mutating func add(
    _ change: ProposedChange,
    touching touched: Set<Int>,
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction],
    _ copy: PackageCopy,
    owner: (_ path: String) -> String? = { _ in nil }
  ) -> Int {
    let own = owner(change.path)
    let converted = change.converted(calls)
    let needed = touched.union(converted.compactMap { first[$0.target] })
    let index: Int
    if let function = change.function {
      index = append(function, functions, change.removal == nil ? .new : .replacesGenerated, own)
      if change.removal == nil { first[function] = index }
      all[index].declaration = Conversion.LeftCode(functions[function], "", copy)
    } else if let last = converted.compactMap({ latest[Place(function: $0.target, owner: own)] }).max(),
      last >= needed.max() ?? 0
    {
      index = last
    } else {
      index = append(change.call.map { calls[$0].target } ?? 0, functions, nil, own)
    }
    all[index].needed.formUnion(needed.subtracting([index]))
    all[index].risks.formUnion(converted.flatMap { $0.refusals.compactMap(\.risk) })
    all[index].isNaming = owner(functions[all[index].function].path) == own
    if let call = change.call { all[index].calls.append(Conversion.LeftCode(calls[call], "")) }
    return index
  }

  /// Counts a converted call in a public async function.
  mutating func addPublicCall(to index: Int) { all[index].publicCount += 1 }

  private mutating func append(
    _ function: Int,
    _ functions: [AwaitableFunction],
    _ counterpart: ConversionStep.Counterpart?,
    _ owner: String?
  ) -> Int {
    var step = ConversionStep(function: function, title: functions[function].title, counterpart: counterpart)
    step.owner = owner
    step.isSync = functions[function].isSync
    all.append(step)
    latest[Place(function: function, owner: owner)] = all.count - 1
    return all.count - 1
  }
}

extension ProposedChange {
  /// The calls that the change converts.
  func converted(_ calls: [CallbackCall]) -> [CallbackCall] {
    if let function { return calls.filter { $0.owner == function && $0.place == .next } }
    guard let call = call.map({ calls[$0] }), let name = call.site?.name else { return [] }
    return calls.filter { other in
      other.path == call.path
        && (other.site?.name == name || other.scope?.outerCalls.contains(name) == true)
    }
  }
}

extension [ProposedChange] {
  /// The changes in an order in which each counterpart comes after those that it awaits.
  func leafFirst(_ calls: [CallbackCall]) -> [ProposedChange] {
    var result: [ProposedChange] = []
    var rest = self
    while !rest.isEmpty {
      let open = Set(rest.compactMap(\.function))
      let next = rest.firstIndex { change in
        change.converted(calls).allSatisfy { $0.target == change.function || !open.contains($0.target) }
      }
      result.append(rest.remove(at: next ?? 0))
    }
    return result
  }
}
