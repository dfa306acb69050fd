internal import CFuturesTesting
internal import Futures

#if canImport(Glibc)
  internal import Glibc
#endif
#if os(Linux) && compiler(>=6.3) && compiler(<6.4) && canImport(Runtime)
  // SPI: the public functions of Runtime follow frame pointers, but the overlay of Dispatch keeps none.
  @_spi(Internal) internal import Runtime
#endif

/// A place of the user's code: the return addresses of a call stack.
///
/// A report that is printed names them.
struct CallSite: Hashable, Sendable {
  let addresses: [UInt]

  /// Captures the return addresses of the present call stack, at most 32.
  static func current() -> CallSite {
    let addresses = withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 32) { buffer in
      guard let first = buffer.baseAddress else { return [UInt]() }
      let count = Int(cfuturestesting_stack(first, Int32(buffer.count)))
      return (0..<count).map { UInt(bitPattern: buffer[$0]) }
    }
    return CallSite(addresses: addresses)
  }

  /// A function in the call stack.
  struct Frame: Sendable {
    /// The mangled name.
    let function: String

    /// File and line; `nil` without debug information.
    var line: String?
  }

  /// Keeps the frames of addresses: the symbolizer takes a tenth of a second.
  private static let frames = Locked<[UInt: [Frame]]>([:])

  /// File and line if the executable has debug information, else the function; `nil` if neither is known.
  var description: String? {
    Self.find([self])
    let frames = Self.frames.withLock { frames in addresses.flatMap { frames[$0] ?? [] } }
    let ofUser = frames.filter { $0.function.hasPrefix("$s") && !Self.isOfLibrary($0.function) }
    if let line = ofUser.lazy.compactMap(\.line).first { return line }
    // The compiler copies functions of the standard library, such as `resume`, into the user's code.
    let function = ofUser.first { !$0.function.hasPrefix("$ss") && !$0.function.hasPrefix("$sSc") }
    return function.map { "`\(Self.demangle($0.function))` (no line: no debug information or no llvm-symbolizer)" }
  }

  /// Whether a function belongs to the library: mangled names begin with the length of the module's name.
  private static func isOfLibrary(_ name: String) -> Bool {
    ["$s7Futures", "$s12FuturesAsync", "$s14FuturesTesting", "$s17FuturesFoundation"].contains { name.hasPrefix($0) }
  }

  /// Finds the frames of all places at once, with the least number of child processes.
  static func find(_ sites: [CallSite]) {
    let unknown = frames.withLock { frames in Set(sites.flatMap(\.addresses)).filter { frames[$0] == nil } }
    guard !unknown.isEmpty else { return }
    let found = symbolize(unknown.sorted()) ?? functions(unknown.sorted())
    frames.withLock { frames in
      for address in unknown { frames[address] = found[address] ?? [] }
    }
  }

  #if canImport(Glibc)
    /// Runs the toolchain's `llvm-symbolizer`, whose memory and time are those of a child process.
    /// - Returns: The frames of the addresses in images that are not system libraries; `nil` if the tool does not run.
    private static func symbolize(_ addresses: [UInt]) -> [UInt: [Frame]]? {
      var images: [String: [(address: UInt, offset: UInt)]] = [:]
      for address in addresses {
        var start: UInt = 0
        guard let name = cfuturestesting_image(address, &start).map({ String(cString: $0) }) else { continue }
        if name.split(separator: "/").last?.hasPrefix("lib") == true { continue }
        images[name, default: []].append((address, address - start - 1))  // -1: within the call, not after it
      }
      var found: [UInt: [Frame]] = [:]
      for (image, places) in images {
        let offsets = places.map { "0x" + String($0.offset, radix: 16) }.joined(separator: " ")
        let command = "\(tool) --no-demangle --obj='\(image)' \(offsets) 2>/dev/null"
        guard let text = output(of: command) else { return nil }
        // A paragraph for each address: a line with the name of each function, and one with its place.
        let paragraphs = text.split(separator: "\n\n")
        guard paragraphs.count == places.count else { return nil }
        for (place, paragraph) in zip(places, paragraphs) {
          let lines = paragraph.split(separator: "\n").map(String.init)
          found[place.address] = stride(from: 0, to: lines.count - 1, by: 2).map {
            Frame(function: lines[$0], line: shortPlace(lines[$0 + 1]))
          }
        }
      }
      return found
    }

    /// Beside the runtime's library, or in the search path.
    private static let tool: String = {
      var start: UInt = 0
      let runtime = dlsym(nil, "swift_retain").flatMap { cfuturestesting_image(UInt(bitPattern: $0), &start) }
      let folder = runtime.map { String(cString: $0) }?.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4)
      let path = folder.map { $0.joined(separator: "/") + "/bin/llvm-symbolizer" } ?? ""
      return access(path, X_OK) == 0 ? "'\(path)'" : "llvm-symbolizer"
    }()

    private static func output(of command: String) -> String? {
      guard let file = popen(command, "r") else { return nil }
      var bytes: [UInt8] = []
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
        while case let count = fread(buffer.baseAddress, 1, buffer.count, file), count > 0 {
          bytes += buffer.prefix(count)
        }
      }
      return pclose(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Shortens `/a/b/App/Cache.swift:12:3` to `App/Cache.swift:12`; `nil` if it is no line of a Swift file.
    private static func shortPlace(_ place: String) -> String? {
      let parts = place.split(separator: ":")
      guard parts.count == 3, parts[0].hasSuffix(".swift"), parts[1] != "0", !place.contains("@__swiftmacro") else {
        return nil
      }
      return parts[0].split(separator: "/").suffix(2).joined(separator: "/") + ":\(parts[1])"
    }
  #else
    private static func symbolize(_ addresses: [UInt]) -> [UInt: [Frame]]? { nil }
  #endif

  #if os(Linux) && compiler(>=6.3) && compiler(<6.4) && canImport(Runtime)
    private static let images = ImageMap.capture()

    /// The functions without lines, where no tool is: only with lines would the module read the debug information.
    private static func functions(_ addresses: [UInt]) -> [UInt: [Frame]] {
      var found: [UInt: [Frame]] = [:]
      for address in addresses {
        let frame = RichFrame<UInt>.returnAddress(address)
        let backtrace = Backtrace(architecture: images.platform, frames: [frame], images: images)
        let symbols = backtrace.symbolicated(with: images, options: [])?.frames.compactMap(\.symbol) ?? []
        found[address] = symbols.filter { !$0.imageName.hasPrefix("lib") }.map { Frame(function: $0.rawName) }
      }
      return found
    }
  #else
    private static func functions(_ addresses: [UInt]) -> [UInt: [Frame]] { [:] }
  #endif

  private static func demangle(_ name: String) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in  // a longer name is cut
      var size = buffer.count
      let text = swiftDemangle(name, name.utf8.count, buffer.baseAddress, &size, 0)
      return text.map { String(cString: $0) } ?? name
    }
  }
}

/// A function of the runtime.
@_silgen_name("swift_demangle")
private func swiftDemangle(
  _ name: UnsafePointer<CChar>?,
  _ length: Int,
  _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?,
  _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
