internal import Foundation

/// How a report is printed.
public enum ReportFormat: String, CaseIterable, Sendable {
  case table, json, markdown
}

/// Says which functions take a callback, and how far they have been migrated.
public struct Report {
  private let inventories: [Inventory]

  /// Takes what to report.
  /// - Parameter inventories: One for each module.
  public init(_ inventories: [Inventory]) { self.inventories = inventories }

  /// The report.
  /// - Parameter format: How it is printed.
  /// - Returns: Its text.
  public func text(as format: ReportFormat) -> String {
    switch format {
    case .table: inventories.map(table).joined(separator: "\n")
    case .markdown: inventories.map(markdown).joined(separator: "\n")
    case .json: json
    }
  }

  // MARK: - For people

  private static let columns = ["where", "function", "callback", "isolation", "Sendable", "counterparts"]

  private func row(_ function: CallbackFunction) -> [String] {
    [
      "\(function.file):\(function.line)",
      function.title + (function.isDeprecated ? " (deprecated)" : ""),
      function.shapeText,
      function.isolation,
      function.sendability.rawValue,
      function.counterpartsText,
    ]
  }

  private func table(_ inventory: Inventory) -> String {
    let rows = [Self.columns] + inventory.functions.map(row)
    let widths = Self.columns.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      row.indices.map { row[$0].padding(toLength: widths[$0], withPad: " ", startingAt: 0) }.joined(separator: "  ")
    }
    return (["\(inventory.module): \(inventory.summary)", ""] + lines + [""] + inventory.fileSummaries)
      .map { $0.trimmingTrailingSpaces }.joined(separator: "\n") + "\n"
  }

  private func markdown(_ inventory: Inventory) -> String {
    let rows =
      [Self.columns, Self.columns.map { _ in "---" }]
      + inventory.functions.map { function in
        row(function).enumerated().map { $0.offset == 1 ? "`\($0.element)`" : $0.element }
      }
    let lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
    return
      (["## \(inventory.module)", "", inventory.summary, ""] + lines + [""] + inventory.fileSummaries.map { "- " + $0 })
      .joined(separator: "\n") + "\n"
  }

  // MARK: - For machines

  private struct Module: Encodable {
    let module: String
    let total: Int
    let migrated: Int
    let files: [File]
    let functions: [Function]
  }

  private struct File: Encodable {
    let file: String
    let total: Int
    let migrated: Int
  }

  private struct Function: Encodable {
    let file: String
    let line: Int
    let function: String
    let shape: String
    let hasProgress: Bool
    let returnsCancellable: Bool
    let isolation: String
    let access: String
    let sendable: String
    let hasAsyncCounterpart: Bool
    let hasFutureCounterpart: Bool
    let isDeprecated: Bool
  }

  private var json: String {
    let modules = inventories.map { inventory in
      Module(
        module: inventory.module,
        total: inventory.functions.count,
        migrated: inventory.migratedCount,
        files: inventory.files.map { File(file: $0.file, total: $0.functions.count, migrated: $0.migratedCount) },
        functions: inventory.functions.map { function in
          Function(
            file: function.file,
            line: function.line,
            function: function.title,
            shape: function.callbacks.shape.name,
            hasProgress: function.callbacks.progress != nil,
            returnsCancellable: function.returnsCancellable,
            isolation: function.isolation,
            access: function.access.rawValue,
            sendable: function.sendability.rawValue,
            hasAsyncCounterpart: function.hasAsyncCounterpart,
            hasFutureCounterpart: function.hasFutureCounterpart,
            isDeprecated: function.isDeprecated
          )
        }
      )
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and lists of them can always be encoded.
    return ((try? encoder.encode(modules)).map { String(decoding: $0, as: UTF8.self) } ?? "[]") + "\n"
  }
}

extension Inventory {
  /// The functions of one file.
  fileprivate struct File {
    let file: String
    let functions: [CallbackFunction]
    var migratedCount: Int { functions.count { $0.hasAsyncCounterpart } }
  }

  fileprivate var files: [File] {
    Dictionary(grouping: functions, by: \.file).sorted { $0.key < $1.key }.map {
      File(file: $0.key, functions: $0.value)
    }
  }

  fileprivate var summary: String {
    guard !functions.isEmpty else { return "no function takes a callback" }
    let percent = migratedCount * 100 / functions.count
    let functionsText = functions.count == 1 ? "1 function takes" : "\(functions.count) functions take"
    return "\(functionsText) a callback; \(migratedCount) (\(percent) %) have an async counterpart"
  }

  fileprivate var fileSummaries: [String] {
    files.map { "\($0.file): \($0.migratedCount) of \($0.functions.count)" }
  }
}

extension CallbackFunction {
  fileprivate var returnsCancellable: Bool {
    if case .none = handle { false } else { true }
  }

  fileprivate var shapeText: String {
    var text = callbacks.shape.name
    if callbacks.progress != nil { text += ", progress" }
    if returnsCancellable { text += ", cancellable" }
    return text
  }

  fileprivate var counterpartsText: String {
    let counterparts = [hasAsyncCounterpart ? "async" : nil, hasFutureCounterpart ? "future" : nil].compactMap { $0 }
    return counterparts.isEmpty ? "-" : counterparts.joined(separator: ", ")
  }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
