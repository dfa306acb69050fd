import AllocationCounter
import Foundation

/// The resources of the process at one time.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct SoakSample {
  let seconds: Double
  /// The number of transfers until then.
  let transfers: Int
  let bytes: Int
  let threads: Int
  let descriptors: Int

  init(after time: Duration, transfers: Int) {
    seconds = time / .seconds(1)
    self.transfers = transfers
    bytes = Int(AllocationCounts.ofProcess().liveBytes)
    threads = Self.entries(of: "/proc/self/task")
    descriptors = Self.entries(of: "/dev/fd")
  }

  /// The number of files in a folder of the system, or 0 if this system has no such folder.
  private static func entries(of folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }
}

/// The difference of the resources between the first and the last minute, or third of a shorter time.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct SoakGrowth: CustomStringConvertible {
  private let bytes, threads, descriptors: Change

  /// The bytes that the transfers between the first and the last samples would leave without this library.
  private let bytesLeftByFoundation: Int

  /// The medians of the first and the last samples.
  private struct Change: CustomStringConvertible {
    let before, after: Int
    var growth: Int { after - before }
    var description: String { "\(before) → \(after)" }
  }

  /// Compares the first and the last samples.
  /// - Parameters:
  ///   - samples: One for each second.
  ///   - bytes: The bytes that a transfer leaves without this library.
  init(_ samples: [SoakSample], bytesLeftByFoundation bytes: Double) {
    let last = samples.last?.seconds ?? 0
    let window = min(60, last / 3)
    // Without the first second, in which the thread pools begin.
    let first = samples.dropFirst().prefix { $0.seconds <= window + 1 }
    let end = samples.suffix(while: { $0.seconds >= last - window })
    func change(_ value: (SoakSample) -> Int) -> Change {
      Change(before: Self.median(first.map(value)), after: Self.median(end.map(value)))
    }
    (self.bytes, threads, descriptors) = (change(\.bytes), change(\.threads), change(\.descriptors))
    bytesLeftByFoundation = Int(bytes * Double(change(\.transfers).growth))
  }

  private static func median(_ values: [Int]) -> Int {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  var description: String {
    "bytes \(bytes), of them \(bytesLeftByFoundation) by Foundation; threads \(threads), descriptors \(descriptors)"
  }

  /// The resources that have grown.
  var faults: [String] {
    var faults: [String] = []
    if bytes.growth > RoundMemory.tolerance + bytesLeftByFoundation * 5 / 4 {
      faults.append("\(bytes.growth) bytes more at the end, of which Foundation leaves \(bytesLeftByFoundation)")
    }
    if threads.growth > 8 { faults.append("\(threads.growth) threads more") }
    if descriptors.growth > 8 { faults.append("\(descriptors.growth) descriptors more") }
    return faults
  }
}

extension Array {
  /// The last elements that all satisfy a condition.
  fileprivate func suffix(while condition: (Element) -> Bool) -> ArraySlice<Element> {
    self[(lastIndex { !condition($0) }.map { $0 + 1 } ?? 0)...]
  }
}
