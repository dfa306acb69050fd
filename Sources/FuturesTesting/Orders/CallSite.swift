internal import CFuturesTesting
internal import Futures

#if canImport(Glibc)
  internal import Glibc
#endif

/// A place of the user's code: the return addresses of a call stack.
///
/// A report that is printed names them.
struct CallSite: Hashable, Sendable {
  let addresses: [UInt]

  /// Keeps the places of addresses, of which those of the library are `nil`: the symbolizer takes a tenth of a second.
  private static let places = Locked<[UInt: String?]>([:])

  /// File and line, for example `App/Cache.swift:12`; `nil` if no call stack was captured.
  var description: String? {
    if addresses.isEmpty { return nil }
    Self.find([self])
    let places = Self.places.withLock(\.self)
    let place = addresses.lazy.compactMap { places[$0] ?? nil }.first
    return place ?? "an unknown line (no debug information, or no llvm-symbolizer)"
  }

  /// Finds the places of all call stacks at once, with the least number of child processes.
  static func find(_ sites: [CallSite]) {
    let unknown = places.withLock { places in Set(sites.flatMap(\.addresses)).filter { places[$0] == nil } }
    guard !unknown.isEmpty else { return }
    let found = symbolize(unknown.sorted())
    places.withLock { places in
      for address in unknown { places[address] = .some(found[address]) }
    }
  }

  #if canImport(Glibc)
    /// Captures the return addresses of the present call stack, at most 32.
    static func current() -> CallSite {
      let addresses = withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 32) { buffer in
        guard let first = buffer.baseAddress else { return [UInt]() }
        let count = Int(cfuturestesting_stack(first, Int32(buffer.count)))
        return (0..<count).map { UInt(bitPattern: buffer[$0]) }
      }
      return CallSite(addresses: addresses)
    }

    /// Runs the toolchain's `llvm-symbolizer`, whose memory and time are those of a child process.
    /// - Returns: The places in images that are not system libraries.
    private static func symbolize(_ addresses: [UInt]) -> [UInt: String] {
      var images: [String: [(address: UInt, offset: UInt)]] = [:]
      for address in addresses {
        var start: UInt = 0
        guard let name = cfuturestesting_image(address, &start).map({ String(cString: $0) }) else { continue }
        if name.split(separator: "/").last?.hasPrefix("lib") == true { continue }
        images[name, default: []].append((address, address - start - 1))  // -1: within the call, not after it
      }
      var found: [UInt: String] = [:]
      for (image, calls) in images {
        let offsets = calls.map { "0x" + String($0.offset, radix: 16) }.joined(separator: " ")
        let text = output(of: "\(tool) --functions=none --obj='\(image)' \(offsets) 2>/dev/null")
        // A paragraph for each address, with a line for each function that the compiler has inlined there.
        for (call, paragraph) in zip(calls, text.split(separator: "\n\n")) {
          found[call.address] = paragraph.split(separator: "\n").lazy.compactMap { placeOfUser("\($0)") }.first
        }
      }
      return found
    }

    /// The tool beside the runtime's library, or in the search path.
    private static let tool: String = {
      var start: UInt = 0
      let runtime = dlsym(nil, "swift_retain").flatMap { cfuturestesting_image(UInt(bitPattern: $0), &start) }
      let folder = runtime.map { "$(dirname '\(String(cString: $0))')/../../../bin:" } ?? ""
      return "PATH=\"\(folder)$PATH\" llvm-symbolizer"
    }()

    private static func output(of command: String) -> String {
      guard let file = popen(command, "r") else { return "" }
      defer { pclose(file) }
      var bytes: [UInt8] = []
      while case let byte = fgetc(file), byte >= 0 { bytes.append(UInt8(byte)) }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// The folders of the library's modules begin with this.
    private static let library =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/") + "/Futures"

    /// Shortens `/a/b/App/Cache.swift:12:3` to `App/Cache.swift:12`.
    ///
    /// `nil` if it is no line of a Swift file of the user. The compiler copies functions of the standard library into their code.
    private static func placeOfUser(_ place: String) -> String? {
      let parts = place.split(separator: ":")
      guard parts.count == 3, parts[0].hasSuffix(".swift"), parts[1] != "0" else { return nil }
      if place.hasPrefix(library) || place.contains("@__swiftmacro") || place.contains("/stdlib/public/") { return nil }
      return parts[0].split(separator: "/").suffix(2).joined(separator: "/") + ":\(parts[1])"
    }
  #else
    static func current() -> CallSite { CallSite(addresses: []) }
    private static func symbolize(_ addresses: [UInt]) -> [UInt: String] { [:] }
  #endif
}
