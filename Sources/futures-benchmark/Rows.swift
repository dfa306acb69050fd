/// A row of the benchmark, and the function that measures it in all its sizes.
struct RowDefinition: Sendable {
  let name: String
  /// Whether the row depends on the types of the value and of the failure.
  let hasVariants: Bool
  let measure: @Sendable (Harness) -> [Row]

  init(_ name: String, hasVariants: Bool = true, _ measure: @escaping @Sendable (Harness) -> [Row]) {
    self.name = name
    self.hasVariants = hasVariants
    self.measure = measure
  }
}

extension Variant {
  /// The rows, in the order of the printed table, which Layout.md explains.
  ///
  /// A new row is one function, and one line here.
  static var rows: [RowDefinition] {
    [
      RowDefinition("C1", resolvedFuture),
      RowDefinition("C2", callbackThenSuccess),
      RowDefinition("C2b", valueCallbackThenSuccess),
      RowDefinition("C3", successThenCallback),
      RowDefinition("C4", mapStages),
      RowDefinition("C4v", mapStagesOfValues),
      RowDefinition("C5", flatMapStagesToResolved),
      RowDefinition("C5b", flatMapStagesToPending),
      RowDefinition("C6", manyCallbacks),
      RowDefinition("C6v", manyCallbackValues),
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
      RowDefinition("D1", hasVariants: false, trackingOfPendingFutures),
    ]
  }
}

/// All variants; the first one is the default.
private let variants = [
  (rows: Variant<IntByHand>.rows, deepWorks: Variant<IntByHand>.deepWorks),
  (rows: Variant<IntNeverByHand>.rows, deepWorks: Variant<IntNeverByHand>.deepWorks),
  (rows: Variant<StringByHand>.rows, deepWorks: Variant<StringByHand>.deepWorks),
  (rows: Variant<StringNeverByHand>.rows, deepWorks: Variant<StringNeverByHand>.deepWorks),
  (rows: Variant<ObjectByHand>.rows, deepWorks: Variant<ObjectByHand>.deepWorks),
  (rows: Variant<ObjectNeverByHand>.rows, deepWorks: Variant<ObjectNeverByHand>.deepWorks),
]

/// The rows with `Int` and `any Error`.
let allRows = variants[0].rows

/// The rows for `Repetition`.
let repeatableRows = variants.flatMap(\.rows) + scalingRows

extension RowDefinition {
  /// The row, and after it the same row with other values and failures.
  var withVariants: [RowDefinition] {
    [self] + variants.dropFirst().flatMap(\.rows).filter { $0.hasVariants && $0.name == name }
  }
}

/// Returns the deep work that the process for a row's peak memory runs.
func deepWork(ofRow name: String) -> (@Sendable (_ depth: Int) -> Body)? {
  variants.lazy.compactMap { $0.deepWorks[name] }.first
}
