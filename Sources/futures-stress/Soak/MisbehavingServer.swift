import Foundation

/// A small HTTP server on 127.0.0.1 that breaks the protocol as the path of the request says.
final class MisbehavingServer: Sendable {
  enum Behaviour: String, CaseIterable {
    /// Sends a whole response.
    case complete
    /// Closes the connection at once.
    case closed
    /// Sends half of the promised bytes.
    case half
    /// Sends bytes that are no HTTP.
    case garbage
    /// Sends nothing until the client closes the connection.
    case silent
  }

  /// The size of a whole body.
  static let size = 20_000

  private let listener: Int32
  private let port: UInt16

  init() throws {
    signal(SIGPIPE, SIG_IGN)  // a closed connection becomes an error of `write`
    let listener = socket(AF_INET, streamSocket, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in acceptConnections() }
  }

  func url(_ behaviour: Behaviour) -> URL { URL(string: "http://127.0.0.1:\(port)/\(behaviour.rawValue)")! }

  /// Stops accepting connections.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func acceptConnections() {
    while true {
      let connection = accept(listener, nil, nil)
      if connection < 0 && errno == EINTR { continue }
      guard connection >= 0 else { break }
      // Not on a global queue, which needs its threads for timers: an answer can block.
      Thread.detachNewThread { [self] in
        answer(connection)
        close(connection)
      }
    }
    close(listener)
  }

  private func answer(_ connection: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = recv(connection, &buffer, buffer.count, 0)
    guard count > 0 else { return }
    let request = String(decoding: buffer.prefix(count), as: UTF8.self)
    let path = request.split(separator: " ").dropFirst().first?.dropFirst() ?? ""
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\nConnection: close\r\n\r\n"
    switch Behaviour(rawValue: String(path)) {
    case .complete: send(Data(head.utf8) + Data(count: Self.size), to: connection)
    case .half: send(Data(head.utf8) + Data(count: Self.size / 2), to: connection)
    case .garbage: send(Data("no protocol\r\n\r\n".utf8), to: connection)
    case .silent: while recv(connection, &buffer, buffer.count, 0) > 0 {}
    case .closed, nil: break
    }
  }

  private func send(_ data: Data, to connection: Int32) {
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

#if canImport(Glibc)
  private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
  private let streamSocket = SOCK_STREAM
#endif
