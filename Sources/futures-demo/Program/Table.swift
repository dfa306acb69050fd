import Foundation

/// The number of downloaded files, and the reasons of failed downloads.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Summary {
  let total: Int
  private var arrived = 0
  private var cancelled = 0

  init(total: Int) { self.total = total }

  var isComplete: Bool { arrived == total }

  mutating func add(_ result: Result<DownloadedFile, any Error>) {
    switch result {
    case .success: arrived += 1
    case .failure(DownloadError.cancelled), .failure(is CancellationError): cancelled += 1
    case .failure: break
    }
  }

  /// Text such as "2 of 7 files arrived, 5 were cancelled".
  var counts: String {
    let files = "\(arrived) of \(total) \(total == 1 ? "file" : "files") arrived"
    return cancelled == 0 ? files : files + ", \(cancelled) \(cancelled == 1 ? "was" : "were") cancelled"
  }
}

/// The table of the demo, with a line for each file.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Table {
  private let nameWidth: Int

  init(of downloads: [Download]) {
    nameWidth = (downloads.map(\.name.count) + [4]).max()!
  }

  /// The header.
  ///
  /// `lastColumn` is empty if there is no such column.
  func header(_ lastColumn: String = "") -> String {
    line("name", "bytes", "seconds", "MB/s", lastColumn)
  }

  /// The line of one file, with its speed or its failure.
  func line(_ download: Download, _ result: Result<DownloadedFile, any Error>, _ lastColumn: String = "") -> String {
    switch result {
    case .success(let file):
      let seconds = file.duration / .seconds(1)
      let speed = Double(file.byteCount) / 1e6 / max(seconds, 1e-9)
      let (time, rate) = (String(format: "%.3f", seconds), String(format: "%.1f", speed))
      return line(download.name, grouped(file.byteCount), time, rate, lastColumn)
    case .failure(DownloadError.cancelled), .failure(is CancellationError):
      return download.name.padded(to: nameWidth) + "  cancelled"
    case .failure(let error):
      return download.name.padded(to: nameWidth) + "  failed: \(error)"
    }
  }

  private func line(_ name: String, _ bytes: String, _ seconds: String, _ speed: String, _ last: String) -> String {
    let numbers = [(bytes, 16), (seconds, 11), (speed, 10)].map { $0.padded(to: $1, atStart: true) }
    return name.padded(to: nameWidth) + numbers.joined() + (last.isEmpty ? "" : "  " + last)
  }
}
