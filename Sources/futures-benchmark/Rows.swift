/// A row of the benchmark, and the function that measures it in all its sizes.
struct RowDefinition: Sendable {
  let name: String
  let measure: @Sendable (Harness) -> [Row]

  init(_ name: String, _ measure: @escaping @Sendable (Harness) -> [Row]) {
    self.name = name
    self.measure = measure
  }

  init(_ name: String, _ measure: @escaping @Sendable (Harness) -> Row) {
    self.init(name) { [measure($0)] }
  }
}

/// The rows, in the order of the printed table, which Layout.md explains.
///
/// A new row is one function, and one line here.
let allRows = [
  RowDefinition("C1", Rows.resolvedFuture),
  RowDefinition("C2", Rows.callbackThenSuccess),
  RowDefinition("C2b", Rows.valueCallbackThenSuccess),
  RowDefinition("C3", Rows.successThenCallback),
  RowDefinition("C4", Rows.mapStages),
  RowDefinition("C4v", Rows.mapStagesOfValues),
  RowDefinition("C5", Rows.flatMapStagesToResolved),
  RowDefinition("C5b", Rows.flatMapStagesToPending),
  RowDefinition("C6", Rows.manyCallbacks),
  RowDefinition("C6v", Rows.manyCallbackValues),
  RowDefinition("C7", Rows.gatherAll),
  RowDefinition("C8", Rows.raceOfAttachAndSucceed),
  RowDefinition("C9", tokenHandlers),
  RowDefinition("C10", Rows.deepChain),
  RowDefinition("C11", Rows.recursion),
  RowDefinition("B1", Rows.awaitResolved),
  RowDefinition("B2", Rows.awaitPending),
  RowDefinition("B3", Rows.awaitFutureOfTask),
  RowDefinition("B6", Rows.progressReports),
  RowDefinition("B7", cancellationToken),
  RowDefinition("B8", Rows.liveMemory),
  RowDefinition("D1", trackingOfPendingFutures),
]
