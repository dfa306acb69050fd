// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// A callback function with its old body, its async counterpart, and the body that `turn-around` writes.
  struct WrapperShape: Sendable, CustomStringConvertible {
    let description: String

    /// A member of `Store`.
    let source: String

    /// The declaration of the counterpart.
    let counterpart: String

    var documentation: String?
    var configuration = "{}"
    var allowed: Set<CallRisk> = []
    var usesFutures = true

    /// The body, or `left: ` and the reason.
    let becomes: String

    init(
      _ description: String,
      _ source: String,
      _ counterpart: String,
      documentation: String? = nil,
      configuration: String = "{}",
      allowed: Set<CallRisk> = [],
      usesFutures: Bool = true,
      becomes: String
    ) {
      self.description = description
      self.source = source
      self.counterpart = counterpart
      self.documentation = documentation
      self.configuration = configuration
      self.allowed = allowed
      self.usesFutures = usesFutures
      self.becomes = becomes
    }

    /// The decision of the tool without the compiler.
    func decision() throws -> String {
      let tokens = SourceTokens(source)
      let name = try #require(tokens.items.indices.first { tokens[$0 - 1] == "func" })
      let text = try #require(FunctionText(name: name, in: tokens))
      let head = tokens.text(0...(text.body?.lowerBound ?? tokens.items.count) - 1)
      var graph = GraphBuilder()
      graph.type("class Store")
      graph.type("enum APIError", "Error")
      graph.type("protocol Cancellable")
      graph.member("func cancel()", of: "Cancellable")
      for handle in ["Tracking", "Ticket"] {
        graph.type("class \(handle)")
        graph.function("func cancel()", of: handle)
      }
      graph.function("init(onCancel: @escaping () -> Void)", of: "Tracking")
      graph.function("init(id: Int)", of: "Ticket")
      graph.function(String(head), of: "Store", documentation: documentation)
      graph.function(counterpart, of: "Store")
      let inventory = graph.inventory(configuration: configuration)
      let function = try #require(inventory.functions.first { $0.hasAsyncCounterpart })
      return decision(function, text, tokens, inventory)
    }

    private func decision(
      _ function: CallbackFunction,
      _ text: FunctionText,
      _ tokens: SourceTokens,
      _ inventory: Inventory
    ) -> String {
      do throws(CallRefusal) {
        let counterpart = try WrappedCounterpart(of: function, in: inventory).declaration
        guard let body = OldBody(of: function, text, in: tokens) else { return "left: it has no body" }
        if body.awaits(counterpart.name) { return "done" }
        let context = try WrapperContext(function, body, inventory).text
        return try WrapperText(function, counterpart, context: context, usesFutures: usesFutures, in: inventory)
          .lines(replacing: body, allowed: allowed).joined(separator: "\n")
      } catch {
        return "left: \(error.reason)" + (error.risk.map { " [\($0.rawValue)]" } ?? "")
      }
    }
  }
#endif
