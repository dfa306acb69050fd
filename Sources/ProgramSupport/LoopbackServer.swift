public import Foundation

/// An HTTP server on the loopback interface, with an answer that the caller supplies.
///
/// Each connection has a thread of its own, so an answer can block.
public final class LoopbackServer: Sendable {
  /// One request, and the way to answer it.
  public struct Exchange: Sendable {
    /// The request line and the headers.
    public let head: String

    /// The body of the request.
    public let body: Data
    fileprivate let socket: Int32

    /// The path of the request.
    public var path: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

    /// Sends the status and the headers, with the length of the body if it is given.
    public func begin(_ status: String = "200 OK", headers: [String] = [], length: Int? = nil) {
      let lines = ["HTTP/1.1 \(status)"] + headers + (length.map { ["Content-Length: \($0)"] } ?? [])
      send(Data((lines + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8))
    }

    /// Sends a whole response.
    public func answer(_ status: String, _ body: Data) {
      begin(status, length: body.count)
      send(body)
    }

    /// Sends `data`, or less of it if the client closes the connection.
    public func send(_ data: Data) {
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { unsafe Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    /// Waits until the client has closed its side, or the time has passed; returns whether the client has closed.
    ///
    /// Call it when the client sends no more bytes: the next event of the socket is then the close.
    public func isClosed(withinMilliseconds time: Int32) -> Bool {
      var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&event, 1, time) > 0
    }

    /// Waits until the client has closed its side, and drops what it sends before.
    public func waitForClose() {
      var byte: UInt8 = 0
      while unsafe recv(socket, &byte, 1, 0) > 0 {}
    }
  }

  /// The port that the server listens at.
  public let port: UInt16
  private let listener: Int32

  /// Starts a server; `answer` answers the one request of each connection.
  ///
  /// With `listening: false` the server occupies its port and refuses every connection.
  public init(listening: Bool = true, _ answer: @escaping @Sendable (Exchange) -> Void) throws {
    let listener = socket(AF_INET, streamType, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let hasPort = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        // Port 0 requests a free port. `getsockname` returns it.
        unsafe bind(listener, pointer, length) == 0 && (!listening || listen(listener, 128) == 0)
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard hasPort else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    guard listening else { return }
    Thread.detachNewThread {
      while true {
        let socket = accept(listener, nil, nil)
        if socket < 0 && errno == EINTR { continue }
        guard socket >= 0 else { break }  // after `stop()`
        Thread.detachNewThread {
          defer { close(socket) }
          if let exchange = Self.readRequest(from: socket) { answer(exchange) }
        }
      }
      close(listener)
    }
  }

  /// Stops accepting connections, on Linux only; open ones are served to their end.
  public func stop() {
    // On Linux this wakes the thread in `accept`, and the thread closes the listener. On Darwin the server goes on accepting.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// The URL of a path, which begins with "/".
  public func url(_ path: String = "/") -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }

  /// Reads the head and the body of a request; returns `nil` if the client closes the connection before the end.
  private static func readRequest(from socket: Int32) -> Exchange? {
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    func readMore() -> Bool {  // `false` if the client has closed
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      received.append(contentsOf: buffer.prefix(max(count, 0)))
      return count > 0
    }
    let end = Data("\r\n\r\n".utf8)
    while received.range(of: end) == nil { guard readMore() else { return nil } }
    guard let range = received.range(of: end) else { return nil }  // never: the loop has found the end of the head
    let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
    let fields = head.split(separator: "\r\n").map { $0.split(separator: ":") }
    let lengthField = fields.first { $0.first?.lowercased() == "content-length" }
    let length = lengthField.flatMap { Int($0[1].drop { $0 == " " }) } ?? 0  // without the field there is no body
    while received.count < range.upperBound + length { guard readMore() else { return nil } }
    return Exchange(head: head, body: Data(received[range.upperBound...]), socket: socket)
  }
}

#if canImport(Glibc)
  private let streamType = Int32(SOCK_STREAM.rawValue)
  private let noSignal = Int32(MSG_NOSIGNAL)  // `send` on a closed connection fails, and does not end the process
#else
  private let streamType = SOCK_STREAM
  private let noSignal: Int32 = 0
#endif
