internal import Foundation

/// Sends and receives messages of the language server protocol through the pipes of a process.
final class LanguageServerConnection {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received = Data()

  /// Starts the server.
  init(arguments: [String]) throws(MigrationError) {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sourcekit-lsp"] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // A write to a server that has ended must fail, and not end this process.
    signal(SIGPIPE, SIG_IGN)
    do {
      try process.run()
    } catch {
      throw MigrationError("sourcekit-lsp cannot be started: \(error.localizedDescription)")
    }
  }

  func send(_ message: some Encodable) throws(MigrationError) {
    do {
      let body = try JSONEncoder().encode(message)
      try input.fileHandleForWriting.writeAll(Data("Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    } catch {
      throw MigrationError("sourcekit-lsp does not take messages any more: \(error.localizedDescription)")
    }
  }

  /// The next message; blocks until there is one.
  func receive() throws(MigrationError) -> Data {
    let separator = Data("\r\n\r\n".utf8)
    while true {
      if let end = received.range(of: separator), let length = Self.length(received[..<end.lowerBound]) {
        let body = end.upperBound..<(end.upperBound + length)
        if received.endIndex >= body.upperBound {
          let message = Data(received[body])
          received = Data(received[body.upperBound...])
          return message
        }
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw MigrationError("sourcekit-lsp has ended without an answer.") }
      received.append(data)
    }
  }

  /// The length of the body that a header names.
  static func length(_ header: Data) -> Int? {
    for line in String(decoding: header, as: UTF8.self).split(separator: "\r\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == "content-length" { return Int(parts[1].trimmed) }
    }
    return nil
  }

  /// Ends the server.
  func close() {
    try? input.fileHandleForWriting.close()
    process.terminate()
    process.waitUntilExit()
  }
}
