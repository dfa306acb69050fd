internal import CFutures

extension FuturesDiagnostics {
  /// Writes the graph of everything that is pending to standard error, without a buffer.
  ///
  /// It waits for no lock that another thread keeps. Needs `tracksPendingFutures`.
  public static func dump() {
    let graph = graph
    // The test kit tracks only its own threads.
    let isPartial = graph.isTracking && !tracksPendingFutures
    writeText("swift-futures: pending work\n\(isPartial ? "FuturesDiagnostics.tracksPendingFutures is false.\n" : "")\(graph)")
  }

  /// Writes a text to standard error.
  package static func writeText(_ text: String) {
    var text = text
    text.withUTF8 { cfutures_write_to_standard_error($0.baseAddress, $0.count) }
  }
}
