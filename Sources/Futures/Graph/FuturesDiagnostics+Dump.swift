internal import CFutures

extension FuturesDiagnostics {
  /// When `dump(on:to:)` writes.
  public struct DumpTrigger: Sendable, Hashable {
    let signal: Int32

    /// When the process gets a signal, for example `SIGUSR1`: `kill -USR1 PID`.
    ///
    /// The signal then has no other effect. Windows and WASI have no signals.
    /// - Parameter number: The signal.
    /// - Returns: The trigger.
    public static func signal(_ number: Int32) -> Self { Self(signal: number) }
  }

  /// Where a dump goes.
  public enum DumpDestination: Sendable, Hashable {
    /// Standard error, without a buffer.
    case standardError
    /// The end of a file, which is made if it does not exist.
    ///
    /// A FIFO without a reader blocks the thread that writes.
    case file(String)
  }

  /// Writes the graph of everything that is pending, as text.
  ///
  /// It waits for no lock that another thread keeps. Needs `tracksPendingFutures`.
  /// - Parameter destination: Standard error, or a file.
  /// - Returns: Whether the text was written; `false` if the file cannot be opened.
  @discardableResult
  public static func dump(to destination: DumpDestination = .standardError) -> Bool {
    let graph = graph
    // The test kit tracks only its own threads.
    let isPartial = graph.isTracking && !tracksPendingFutures
    let hint = isPartial ? "FuturesDiagnostics.tracksPendingFutures is false.\n" : ""
    var text = "swift-futures: pending work\n\(hint)\(graph)"
    return text.withUTF8 { text in
      switch destination {
      case .standardError:
        cfutures_write_to_standard_error(text.baseAddress, text.count)
        return true
      case .file(let path): return cfutures_append_to_file(path, text.baseAddress, text.count)
      }
    }
  }

  /// Writes the graph of everything that is pending whenever the process gets a signal.
  ///
  /// ```swift
  /// FuturesDiagnostics.dump(on: .signal(SIGUSR1))
  /// ```
  ///
  /// Sets `tracksPendingFutures`. A thread of its own writes the dump, also if all threads of Dispatch and of the tasks are
  /// blocked. The handler of the signal only writes a byte to a pipe. A second call for a signal replaces the destination.
  /// - Parameters:
  ///   - trigger: The signal.
  ///   - destination: Standard error, or a file.
  /// - Returns: Whether the handler was installed; `false` on a system without signals.
  @discardableResult
  public static func dump(on trigger: DumpTrigger, to destination: DumpDestination = .standardError) -> Bool {
    tracksPendingFutures = true
    destinations.withLock { $0[trigger.signal] = destination }
    return cfutures_on_signal(trigger.signal) { signal in
      if let destination = FuturesDiagnostics.destinations.withLock({ $0[signal] }) {
        FuturesDiagnostics.dump(to: destination)
      }
    }
  }

  private static let destinations = Locked<[Int32: DumpDestination]>([:])
}

extension FuturesDiagnostics {
  /// Writes a text to standard error.
  package static func writeText(_ text: String) {
    var text = text
    text.withUTF8 { cfutures_write_to_standard_error($0.baseAddress, $0.count) }
  }
}
