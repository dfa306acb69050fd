import Foundation

/// A small HTTP/1.1 server on 127.0.0.1, so that the demo needs no network.
final class LoopbackServer: Sendable {
  private let files: [String: Data]
  private let listener: Int32
  private let port: UInt16

  /// Starts to serve `files`, a body for each name, on a free port.
  init(serving files: [String: Data]) throws {
    self.files = files
    (listener, port) = try Self.openListener()
    Thread.detachNewThread { [self] in acceptConnections() }
  }

  /// The URL of the file named `name`.
  func url(for name: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)/\(name)")!
  }

  /// Stops accepting connections.
  ///
  /// Open connections are served to their end.
  func stop() {
    // This wakes the thread that waits in `accept`, which then closes the listener.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func acceptConnections() {
    while true {
      let connection = accept(listener, nil, nil)
      if connection < 0 && errno == EINTR { continue }
      guard connection >= 0 else { break }
      Thread.detachNewThread { [self] in
        answer(connection)
        close(connection)
      }
    }
    close(listener)
  }

  /// Reads one request, sends the response, and closes the connection.
  private func answer(_ connection: Int32) {
    guard let line = requestLine(of: connection) else { return }
    let words = line.split(separator: " ")
    guard words.count == 3, words[0] == "GET" else {
      return send(status: "405 Method Not Allowed", body: Data(), to: connection)
    }
    guard let body = files[String(words[1].dropFirst())] else {
      return send(status: "404 Not Found", body: Data(), to: connection)
    }
    send(status: "200 OK", body: body, to: connection)
  }

  /// Reads the head of a request, up to its empty line, and returns its first line.
  private func requestLine(of connection: Int32) -> String? {
    var head = Data()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while head.range(of: Data("\r\n\r\n".utf8)) == nil {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0, head.count < 65_536 else { return nil }
      head.append(contentsOf: buffer.prefix(count))
    }
    return head.range(of: Data("\r\n".utf8)).map { String(decoding: head[..<$0.lowerBound], as: UTF8.self) }
  }

  private func send(status: String, body: Data, to connection: Int32) {
    let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    guard send(Data(head.utf8), to: connection), send(body, to: connection) else { return }
    shutdown(connection, Int32(SHUT_WR))
  }

  /// Sends all of `data`, and returns whether that succeeded.
  private func send(_ data: Data, to connection: Int32) -> Bool {
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = write(connection, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
}

extension LoopbackServer {
  /// Opens a listening socket on a free port of the loopback interface.
  private static func openListener() throws -> (listener: Int32, port: UInt16) {
    #if canImport(Darwin)
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard listener >= 0 else { throw currentError }

    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        // Port 0 requests a free port. `getsockname` returns it.
        bind(listener, address, length) == 0 && listen(listener, SOMAXCONN) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else {
      defer { close(listener) }
      throw currentError
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  private static var currentError: POSIXError {
    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
  }
}
