/// A row of PERFORMANCE.md, and the function that measures it in all its sizes.
struct RowDefinition: Sendable {
  let name: String
  /// Whether it is about values and failures, and so can be measured with others.
  let hasVariants: Bool
  let measure: @Sendable (Harness) -> [Row]

  init(_ name: String, hasVariants: Bool = true, _ measure: @escaping @Sendable (Harness) -> [Row]) {
    self.name = name
    self.hasVariants = hasVariants
    self.measure = measure
  }
}

extension Variant {
  /// The rows of PERFORMANCE.md, in its order.
  ///
  /// A new row is one function, and one line here.
  static var rows: [RowDefinition] {
    [
      RowDefinition("C1", resolvedFuture),
      RowDefinition("C2", callbackThenSuccess),
      RowDefinition("C3", successThenCallback),
      RowDefinition("C4", mapStages),
      RowDefinition("C5", flatMapStagesToResolved),
      RowDefinition("C5b", flatMapStagesToPending),
      RowDefinition("C6", manyCallbacks),
      RowDefinition("C7", gatherAll),
      RowDefinition("C8", raceOfAttachAndSucceed),
      RowDefinition("C9", hasVariants: false, tokenHandlers),
      RowDefinition("C10", deepChain),
      RowDefinition("C11", recursion),
      RowDefinition("B1", awaitResolved),
      RowDefinition("B2", awaitPending),
      RowDefinition("B3", awaitFutureOfTask),
      RowDefinition("B6", progressReports),
      RowDefinition("B7", hasVariants: false, cancellationToken),
      RowDefinition("B8", liveMemory),
    ]
  }
}

/// The rows with `Int` and `any Error`, which have the budgets.
let allRows = Variant<IntByHand>.rows

/// The same with the other values and failures.
private let variants = [
  Variant<IntNeverByHand>.rows,
  Variant<StringByHand>.rows,
  Variant<StringNeverByHand>.rows,
  Variant<ObjectByHand>.rows,
  Variant<ObjectNeverByHand>.rows,
]

extension RowDefinition {
  /// The row, and after it its variants.
  var withVariants: [RowDefinition] { [self] + variants.joined().filter { $0.hasVariants && $0.name == name } }
}

/// The deep works of all variants.
var allDeepWorks: [String: @Sendable (_ depth: Int) -> Body] {
  [
    Variant<IntByHand>.deepWorks,
    Variant<IntNeverByHand>.deepWorks,
    Variant<StringByHand>.deepWorks,
    Variant<StringNeverByHand>.deepWorks,
    Variant<ObjectByHand>.deepWorks,
    Variant<ObjectNeverByHand>.deepWorks,
  ].reduce(into: [:]) { $0.merge($1) { first, _ in first } }
}
