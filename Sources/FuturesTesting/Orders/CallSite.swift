internal import CFuturesTesting
internal import Futures

#if canImport(Glibc)
  internal import Glibc
#endif

/// A place of the user's code: the return addresses of a call stack.
///
/// A printed report names the file and the line.
struct CallSite: Hashable, Sendable {
  let addresses: [UInt]

  /// Keeps the places that were found: the symbolizer takes a tenth of a second.
  private static let places = Locked<[CallSite: String]>([:])

  /// File and line, for example `App/Cache.swift:12`; `nil` if no call stack was captured.
  var description: String? {
    if addresses.isEmpty { return nil }
    if let known = Self.places.withLock({ $0[self] }) { return known }
    let place = Self.place(of: addresses) ?? "an unknown line (no debug information, or no llvm-symbolizer)"
    Self.places.withLock { $0[self] = place }
    return place
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

    /// Returns the first place of the user's code, from `llvm-symbolizer`: a child process, whose end frees its memory.
    private static func place(of addresses: [UInt]) -> String? {
      let arguments = addresses.compactMap { address -> String? in  // if none is left, the command reads `/dev/null`
        var start: UInt = 0
        guard let image = cfuturestesting_image(address, &start).map({ String(cString: $0) }) else { return nil }
        let isLibrary = image.split(separator: "/").last?.hasPrefix("lib") == true
        if isLibrary { return nil }  // of the system or the toolchain; a user's dynamic library counts as one
        return "'\"\(image)\" 0x\(String(address - start - 1, radix: 16))'"  // -1: within the call, not after it
      }
      let text = output(of: "\(symbolizer) --functions=none \(arguments.joined(separator: " ")) 2>/dev/null </dev/null")
      return text.split(separator: "\n").lazy.compactMap { placeOfUser("\($0)") }.first
    }

    /// The command that runs `llvm-symbolizer`, from the toolchain with the runtime in use (`swift_retain`) or the search path.
    private static let symbolizer: String = {
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

    /// The paths of all modules of this library begin with this: `…/Sources/Futures`.
    private static let library =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/") + "/Futures"

    /// Shortens `/a/b/App/Cache.swift:12:3` to `App/Cache.swift:12`; `nil` for a place outside the user's Swift files.
    ///
    /// Line 0 is an unknown line. The user's image also has functions of the standard library, which the compiler copies there.
    private static func placeOfUser(_ place: String) -> String? {
      let parts = place.split(separator: ":")
      guard parts.count == 3, parts[0].hasSuffix(".swift"), parts[1] != "0" else { return nil }
      if place.hasPrefix(library) || place.contains("@__swiftmacro") || place.contains("/stdlib/public/") { return nil }
      return parts[0].split(separator: "/").suffix(2).joined(separator: "/") + ":\(parts[1])"
    }
  #else
    static func current() -> CallSite { CallSite(addresses: []) }  // only the code for Glibc captures a stack
    private static func place(of addresses: [UInt]) -> String? { nil }
  #endif
}
