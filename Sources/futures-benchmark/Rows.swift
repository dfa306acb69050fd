/// A row of PERFORMANCE.md, and the function that measures it and all its variants.
struct RowDefinition: Sendable {
  let name: String
  let measure: @Sendable (Harness) -> [Row]

  init(_ name: String, _ measure: @escaping @Sendable (Harness) -> [Row]) {
    self.name = name
    self.measure = measure
  }
}

/// The rows of PERFORMANCE.md whose features exist, in its order.
///
/// A new row is one function, and one line here.
let allRows = [
  RowDefinition("C1", resolvedFuture),
  RowDefinition("C2", callbackThenSuccess),
  RowDefinition("C3", successThenCallback),
  RowDefinition("C4", mapStages),
  RowDefinition("C5", flatMapStagesToResolved),
  RowDefinition("C5b", flatMapStagesToPending),
  RowDefinition("C6", manyCallbacks),
  RowDefinition("C7", gatherAll),
  RowDefinition("C8", raceOfAttachAndSucceed),
  RowDefinition("C9", tokenHandlers),
  RowDefinition("C10", deepChain),
  RowDefinition("C11", recursion),
  RowDefinition("B1", awaitResolved),
  RowDefinition("B2", awaitPending),
  RowDefinition("B3", awaitFutureOfTask),
  RowDefinition("B6", progressReports),
  RowDefinition("B7", cancellationToken),
  RowDefinition("B8", liveMemory),
]
