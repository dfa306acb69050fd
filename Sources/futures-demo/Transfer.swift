import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A complete file.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct DownloadedFile: Sendable {
  let location: URL
  let byteCount: Int64
  let duration: Duration
}

/// One download of the legacy layer: the partial file, the received bytes, and the callbacks.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Transfer {
  private let url: URL
  private let destination: URL
  private let partialFile: URL
  private let progress: LegacyDownloader.Progress?
  private let completion: LegacyDownloader.Completion

  private let start = ContinuousClock.now
  private var output: FileHandle?
  private var received: Int64 = 0
  private var expected: Int64?

  init(
    of url: URL,
    to destination: URL,
    progress: LegacyDownloader.Progress?,
    completion: @escaping LegacyDownloader.Completion
  ) {
    self.url = url
    self.destination = destination
    self.partialFile = destination.appendingPathExtension("part")
    self.progress = progress
    self.completion = completion
  }

  /// Checks the head of the response, and creates the file for its body.
  func open(_ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse else { throw DownloadError.notHTTP }
    guard (200...299).contains(response.statusCode) else { throw DownloadError.status(response.statusCode) }
    // The length of a compressed body is not the length of the file.
    let isEncoded = response.value(forHTTPHeaderField: "Content-Encoding").map { $0 != "identity" } ?? false
    expected = response.expectedContentLength < 0 || isEncoded ? nil : response.expectedContentLength
    try wrappingFileErrors {
      try Data().write(to: partialFile, options: .withoutOverwriting)
      output = try FileHandle(forWritingTo: partialFile)
    }
  }

  /// Appends bytes of the body to the partial file.
  func write(_ data: Data) throws {
    try wrappingFileErrors { try output?.write(contentsOf: data) }
    received += Int64(data.count)
    progress?(received, expected)
  }

  /// Ends the transfer: renames or removes the partial file, and calls the completion.
  func finish(_ error: (any Error)?) {
    do {
      try seal(error)
      let duration = ContinuousClock.now - start
      completion(.success(DownloadedFile(location: destination, byteCount: received, duration: duration)))
    } catch {
      if let output {
        try? output.close()
        try? FileManager.default.removeItem(at: partialFile)
      }
      completion(.failure(error))
    }
  }

  private func seal(_ error: (any Error)?) throws {
    if let error { throw reason(for: error) }
    guard let output else { throw DownloadError.notHTTP }
    guard received == expected ?? received else { throw DownloadError.cut(received: received, expected: expected) }
    try wrappingFileErrors {
      try output.close()
      try FileManager.default.moveItem(at: partialFile, to: destination)
    }
  }

  /// The error for the user, instead of the session's error.
  private func reason(for error: any Error) -> DownloadError {
    if let error = error as? DownloadError { return error }
    switch (error as? URLError)?.code {
    case .cancelled: return .cancelled
    case .timedOut: return .timedOut
    case .badServerResponse, .unsupportedURL: return .notHTTP
    case .cannotFindHost: return .unknownHost(url.host() ?? "")
    case .cannotConnectToHost: return .refused(host: url.host() ?? "", port: url.port)
    case _ where output != nil: return .cut(received: received, expected: expected)
    default: return .network(error.localizedDescription)
    }
  }

  private func wrappingFileErrors(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
      let code = cause?.domain == NSPOSIXErrorDomain ? cause?.code : nil
      throw DownloadError.file(code.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription)
    }
  }
}
