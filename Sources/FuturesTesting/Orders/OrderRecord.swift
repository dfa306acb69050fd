internal import CFuturesTesting

/// The order of the present run so far, in a file of the temporary folder, so that it survives a crash.
///
/// A crash prints the order. If the process is killed, the next search of the same call prints the order.
final class OrderRecord: @unchecked Sendable {
  // @unchecked: only the thread of the search uses it, and the watch while that thread is blocked.
  private let record: UnsafeMutablePointer<cfuturestesting_record>

  /// Opens the file of a call; `nil` if that is not possible.
  init?(fileID: String, line: UInt) {
    CallSite.captureImages()
    let name = Self.name(fileID, line)
    cfuturestesting_print_left(name)
    guard let record = cfuturestesting_open_record(name, "\(fileID):\(line)") else { return nil }
    self.record = record
  }

  /// The name of the files of a call of `exploreOrders`.
  static func name(_ fileID: String, _ line: UInt) -> String {
    String(fileID.map { $0.isLetter || $0.isNumber ? $0 : "-" }) + "-\(line)"
  }

  deinit { cfuturestesting_close_record(record) }

  func begin() { cfuturestesting_begin_record(record) }

  func end() { record.pointee.isRunning = 0 }

  func append(decision: OrderChoice) {
    var text = "\(decision.letter)\(decision.index)"
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { bytes in
        if let first = bytes.baseAddress { cfuturestesting_append_decision(record, first, Int32(bytes.count)) }
      }
    }
  }

  func append(move: String) {
    var text = move
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { bytes in
        if let first = bytes.baseAddress { cfuturestesting_append_move(record, first, Int32(bytes.count)) }
      }
    }
  }

  /// Sets the record that a crash of this thread prints.
  static func setCurrent(_ record: OrderRecord?) { cfuturestesting_set_record(record?.record) }
}
