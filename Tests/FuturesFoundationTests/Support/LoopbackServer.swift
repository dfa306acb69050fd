import Foundation
import Futures

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An HTTP server on the loopback interface, with an answer that the test supplies.
///
/// Each connection has a thread of its own, so an answer can wait for the test.
final class LoopbackServer: Sendable {
  /// One request, and the way to answer it.
  struct Exchange: Sendable {
    let head: String
    let body: Data
    fileprivate let socket: Int32

    /// The path of the request.
    var path: String { String(head.split(separator: " ")[1]) }

    /// Sends the status and the headers, with the length of the body if it is given.
    func begin(_ status: String = "200 OK", headers: [String] = [], length: Int? = nil) {
      let lines = ["HTTP/1.1 \(status)"] + headers + (length.map { ["Content-Length: \($0)"] } ?? [])
      send(Data((lines + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8))
    }

    /// Sends a whole response.
    func answer(_ status: String = "200 OK", _ body: Data) {
      begin(status, length: body.count)
      send(body)
    }

    /// Sends `data`, as far as the client takes it.
    func send(_ data: Data) {
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { unsafe Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    /// Waits until the client has closed its side, or the time is over.
    ///
    /// Call it after the last byte of the request.
    /// - Returns: Whether the client has closed.
    func isClosed(within time: Duration) -> Bool {
      var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&event, 1, Int32(time / .milliseconds(1))) > 0
    }

    /// Waits until the client has closed its side.
    func waitForClose() {
      var byte: UInt8 = 0
      while unsafe recv(socket, &byte, 1, 0) > 0 {}
    }
  }

  /// The port that the server listens at.
  let port: UInt16
  private let listener: Int32

  /// Starts a server that runs until the end of the tests; `answer` answers the one request of each connection.
  ///
  /// If it is not `listening`, it occupies its port and refuses every connection.
  init(listening: Bool = true, _ answer: @escaping @Sendable (Exchange) -> Void) throws {
    listener = socket(AF_INET, streamType, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isThere = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(listener, pointer, length) == 0 && (!listening || listen(listener, 64) == 0)
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard isThere else { throw CocoaError(.fileReadUnknown) }
    port = UInt16(bigEndian: address.sin_port)
    guard listening else { return }
    Thread.detachNewThread {
      while case let socket = accept(listener, nil, nil), socket >= 0 {
        Thread.detachNewThread {
          defer { close(socket) }
          guard let exchange = Self.readRequest(from: socket) else { return }
          answer(exchange)
        }
      }
    }
  }

  /// A request for `path`.
  func request(_ path: String = "/", method: String = "GET") -> URLRequest {
    var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)\(path)")!)
    request.httpMethod = method
    // Foundation's default of a minute is too short when a sanitizer runs other tests at the same time. This limit only
    // ends hangs.
    request.timeoutInterval = 1_200
    return request
  }

  private static func readRequest(from socket: Int32) -> Exchange? {
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    func readMore() -> Bool {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      received.append(contentsOf: buffer.prefix(max(count, 0)))
      return count > 0
    }
    let end = Data("\r\n\r\n".utf8)
    while received.range(of: end) == nil { guard readMore() else { return nil } }
    guard let range = received.range(of: end) else { return nil }
    let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
    let lengths = head.split(separator: "\r\n").compactMap { line -> Int? in
      let parts = line.split(separator: ":")
      return parts.first?.lowercased() == "content-length" ? Int(parts[1].drop { $0 == " " }) : nil
    }
    while received.count < range.upperBound + (lengths.first ?? 0) { guard readMore() else { return nil } }
    return Exchange(head: head, body: Data(received[range.upperBound...]), socket: socket)
  }
}

#if canImport(Glibc)
  private let streamType = Int32(SOCK_STREAM.rawValue)
  private let noSignal = Int32(MSG_NOSIGNAL)
#else
  private let streamType = SOCK_STREAM
  private let noSignal: Int32 = 0
#endif

/// A file name in a new folder, which this object removes when it is released.
final class TemporaryPlace: Sendable {
  let url: URL

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("futures-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent("file")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The content of the file.
  var contents: Data? { try? Data(contentsOf: url) }

  /// The number of files in the folder.
  var count: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? -1 }

  private var folder: URL { url.deletingLastPathComponent() }
}
