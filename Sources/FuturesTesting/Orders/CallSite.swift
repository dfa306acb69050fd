internal import CFuturesTesting
internal import Futures

#if os(Linux) && compiler(>=6.3) && compiler(<6.4) && canImport(Runtime) && canImport(Glibc)
  // The module Runtime needs Glibc if it is linked statically.
  internal import Glibc
  // SPI: the public functions of Runtime follow frame pointers, but the overlay of Dispatch keeps none.
  @_spi(Internal) internal import Runtime
#endif

/// A place of the user's code, found in the call stack.
struct CallSite: Sendable {
  private let addresses: [UInt]

  /// Captures the return addresses of the present call stack, at most 48.
  static func current() -> CallSite {
    let addresses = withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 48) { buffer in
      guard let first = buffer.baseAddress else { return [UInt]() }
      let count = Int(cfuturestesting_stack(first, Int32(buffer.count)))
      return (0..<count).map { UInt(bitPattern: buffer[$0]) }
    }
    return CallSite(addresses: addresses)
  }

  #if os(Linux) && compiler(>=6.3) && compiler(<6.4) && canImport(Runtime) && canImport(Glibc)
    // Captured once: a capture takes longer than finding the name of one place.
    private static let images = ImageMap.capture()

    // A cache: finding a name takes a tenth of a second.
    private static let names = Locked<[[UInt]: String]>([:])

    /// File and line if the executable has debug information, else the function; `nil` if neither is known.
    var description: String? {
      if let name = Self.names.withLock({ $0[addresses] }) { return name }
      let name = name
      Self.names.withLock { $0[addresses] = name }
      return name
    }

    private var name: String? {
      let frames = addresses.map { RichFrame<UInt>.returnAddress($0) }
      let backtrace = Backtrace(architecture: Self.images.platform, frames: frames, images: Self.images)
      let symbols = backtrace.symbolicated(with: Self.images)?.frames.compactMap(\.symbol) ?? []
      let ofUser = symbols.filter { $0.rawName.hasPrefix("$s") && !Self.isOfLibrary($0) }
      for location in ofUser.compactMap(\.sourceLocation)
      where location.line > 0 && location.path.hasSuffix(".swift") && !location.path.contains("@__swiftmacro") {
        let file = location.path.split(separator: "/").suffix(2).joined(separator: "/")
        return "\(file):\(location.line)"
      }
      // The compiler copies functions of the standard library, such as `resume`, into the user's code.
      let isStandard = { (symbol: SymbolicatedBacktrace.Symbol) in
        symbol.rawName.hasPrefix("$ss") || symbol.rawName.hasPrefix("$sSc")
      }
      return ofUser.first { !isStandard($0) }.map { "`\($0.name)`" }
    }

    private static func isOfLibrary(_ symbol: SymbolicatedBacktrace.Symbol) -> Bool {
      // Mangled names begin with the length of the module's name.
      let modules = ["$s7Futures", "$s12FuturesAsync", "$s14FuturesTesting", "$s17FuturesFoundation"]
      return symbol.imageName.hasPrefix("lib") || modules.contains { symbol.rawName.hasPrefix($0) }
    }
  #else
    var description: String? { nil }
  #endif
}
