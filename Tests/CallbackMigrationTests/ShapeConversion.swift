// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  /// A function with calls, and the text that `convert` itself writes for it.
  struct ConvertedShape: Sendable, CustomStringConvertible {
    let name: String
    let source: String

    /// The body of the new function, or `left: ` and the reason.
    let becomes: String

    var description: String { name }

    init(_ name: String, _ source: String, becomes: String) {
      self.name = name
      self.source = source
      self.becomes = becomes
    }
  }

  /// Decides as `convert --functions --allow weak-self` does, without the compiler.
  struct ShapeConversion {
    private static let completion = "completion: @escaping (Result<String, any Error>) -> Void"

    private static let functions = [
      "func load(id: Int, completion: @escaping (Result<String, any Error>) -> Void)",
      "func remove(id: Int, completion: @escaping (Result<Void, any Error>) -> Void)",
      "func pair(from url: URL, completion: @escaping (Data?, (any Error)?) -> Void)",
      "func response(from url: URL, completion: @escaping (Data?, URLResponse?, (any Error)?) -> Void)",
      "func count(completion: @escaping (Int) -> Void)",
      "func save(_ text: String, completion: @escaping ((any Error)?) -> Void)",
      "func fetch(path: String, success: @escaping (String) -> Void, failure: @escaping (any Error) -> Void)",
      "func download(id: Int, completion: @escaping (Result<String, any Error>) -> Void) -> Download",
      "func unpack(_ data: Data, completion: (Result<Int, any Error>) -> Void)",
      "func send(_ text: String, callbackQueue: DispatchQueue = .main, \(completion))",
      "func ask(callbackQueue: DispatchQueue = .main, success: @escaping (Int) -> Void, failure: @escaping (any Error) -> Void)",
      "func post(_ id: Int, _ responseQueue: DispatchQueue, \(completion))",
      "func push(_ id: Int, _ completion: @escaping (Result<String, any Error>) -> Void)",
      "func find(id: Int, completion: @escaping (String?, (any Error)?) -> Void)",
      "func extent(completion: @escaping (Int, Int) -> Void)",
      "func measure(completion: @escaping (Int) -> Void, progress: ((Double) -> Void)? = nil)",
      "func run(_ work: @escaping () throws -> Void, _ completion: @escaping (Int) -> Void)",
      "func trace(_ completion: @escaping (Int) -> Void, _ format: @escaping (Int) -> String)",
      "func keep(_ counts: [String: [Int]], _ completion: @escaping (Int) -> Void)",
      "func match(completion: @escaping (String?, Int?, (any Error)?) -> Void)",
    ]

    /// Functions that can succeed without a value.
    private static let configuration = #"{"optional": ["find(*", "match(*", "f(maybe:*"]}"#

    private let tokens: SourceTokens
    private let allowed: Set<CallRisk>
    private var functions: [AwaitableFunction] = []
    private var calls: [CallbackCall] = []

    init(_ source: String, allowing allowed: Set<CallRisk> = []) throws {
      tokens = SourceTokens(source)
      self.allowed = allowed
      var graph = GraphBuilder()
      graph.type("enum APIError", "Error")
      graph.type("class Download")
      graph.member("func cancel()", of: "Download")
      let name = try #require(tokens.items.indices.first { tokens[$0 - 1] == "func" })
      let brace = try #require(FunctionText(name: name, in: tokens)?.body?.lowerBound)
      for function in Self.functions + [tokens.text(name - 1...brace - 1).trimmed] { graph.function(function) }
      let inventory = graph.inventory(configuration: Self.configuration)
      for entry in CounterpartPlan(inPlaceFor: inventory).entries {
        guard var function = AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory) else { continue }
        if function.name.hasPrefix("f(") {
          function.offset = tokens.items[name].range.lowerBound
        } else {
          function.counterpart = .exists(file: "Counterparts.swift")
          function.offset = -1
          function.canCounterpartThrow = function.called.canFail
        }
        functions.append(function)
      }
      findCalls()
    }

    private mutating func findCalls() {
      var callbacks: [Int: CallSite] = [:]
      var found: [(target: Int, site: CallSite)] = []
      for index in tokens.items.indices where tokens[index - 1] != "func" {
        guard let target = functions.firstIndex(where: { $0.name.hasPrefix(tokens[index] + "(") && $0.offset < 0 })
        else {
          continue
        }
        let called = functions[target].called
        guard
          let site = CallSite(name: index, in: tokens, label: called.callbackLabel, failureLabel: called.failureLabel)
        else { continue }
        found.append((target, site))
        for brace in [site.callback, site.failure].compactMap(\.self) { callbacks[brace] = site }
      }
      let owner = functions.firstIndex { $0.offset >= 0 }
      for (target, site) in found {
        let scope = CallScope(of: site, in: tokens, callbacks: callbacks)
        let function = functions[target]
        var call = CallbackCall(
          file: "F.swift",
          line: tokens.line(site.name),
          function: function.title,
          enclosing: "f",
          callClass: scope.isAsync ? .ready : .next,
          place: scope.isAsync ? .ready : .next,
          target: target
        )
        call.site = site
        call.scope = scope
        call.owner = scope.isAsync ? nil : owner
        let checks = CallChecks(
          tokens: tokens,
          site: site,
          scope: scope,
          function: function.called,
          isolation: .none,
          ownCallback: call.owner.map { functions[$0].callbackName },
          ownFailure: call.owner.flatMap { functions[$0].failureName },
          ownQueue: call.owner.flatMap { functions[$0].called.queue?.name }
        )
        call.refusals = checks.refusals.filter { $0.risk != .weakSelf }
        let isRefused = call.refusals.contains { refusal in refusal.risk.map { !allowed.contains($0) } ?? true }
        if isRefused { call.callClass = .byHand }
        calls.append(call)
      }
    }

    /// The new text, or `left: ` and the reason.
    var outcome: String {
      do throws(ConvertedText.Refusal) {
        if let call = calls.first(where: { $0.callClass == .byHand }) {
          throw ConvertedText.Refusal(call.refusals[0].reason)
        }
        guard let function = functions.first(where: { $0.offset >= 0 }), calls.allSatisfy({ $0.place == .next }) else {
          guard let call = calls.first(where: { $0.scope?.outerCalls.isEmpty == true }) else { return "left: no call" }
          return try OwnText.of(call, in: tokens, calls, functions).get()
        }
        guard let name = tokens.index(at: function.offset), let text = FunctionText(name: name, in: tokens) else {
          return "left: no function"
        }
        let checks = FunctionChecks(tokens: tokens, function: function, text: text, calls: calls)
        if let refusal = checks.refusal { throw ConvertedText.Refusal(refusal) }
        return try OwnText.body(of: function, text, calls, in: tokens, functions)
      } catch {
        return "left: \(error.reason)"
      }
    }

    /// A text without the spaces at the ends of its lines.
    static func withoutIndentation(_ text: String) -> String {
      text.split(separator: "\n").map(\.trimmed).filter { !$0.isEmpty }.joined(separator: "\n")
    }
  }
#endif
