public import CFutures

// Q: Why not `Atomic` of the standard library? A: It needs macOS 15 and iOS 18.
//
// Q: Why raw layout, and not a structure of C? A: The atomic operations need the one address of the value. A structure of C
// is loadable, so the compiler can copy it to the stack and pass the address of the copy. A type with raw layout is
// always passed by address. Its size and alignment are constants, so no runtime has to know about raw layout.

// The orderings have the numbers of C. No operation of the library needs sequential consistency.

@frozen
@usableFromInline
enum AtomicLoadOrdering: Int32 {
  case relaxed = 0
  case acquiring = 2
}

@frozen
@usableFromInline
enum AtomicStoreOrdering: Int32 {
  case relaxed = 0
  case releasing = 3
}

/// The orderings of an operation that loads and stores; an exchange that fails is a relaxed load.
@frozen
@usableFromInline
enum AtomicUpdateOrdering: Int32 {
  case relaxed = 0
  case acquiring = 2
  case releasing = 3
  case acquiringAndReleasing = 4
}

/// An atomic value of one byte: a number, a `Bool`, or an enumeration.
///
/// Traps if a value has another size. The bits of the value are stored: `init(rawValue:)` would compare with each case.
@_rawLayout(size: 1, alignment: 1)
@frozen
@usableFromInline
struct AtomicByte<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // @unchecked: after the initializer, each access is atomic.
  @inlinable
  @inline(__always)
  init(_ value: Value) { place.initializeMemory(as: UInt8.self, to: Self.bits(of: value)) }

  /// The address of the value, which does not change while the value is borrowed.
  @inlinable
  @inline(__always)
  var place: UnsafeMutableRawPointer { withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) } }

  @inlinable
  @inline(__always)
  static func bits(of value: Value) -> UInt8 { unsafeBitCast(value, to: UInt8.self) }

  @inlinable
  @inline(__always)
  static func value(of bits: UInt8) -> Value { unsafeBitCast(bits, to: Value.self) }

  @inlinable
  @inline(__always)
  func load(ordering: AtomicLoadOrdering) -> Value { Self.value(of: cfutures_load_byte(place, ordering.rawValue)) }

  @inlinable
  @inline(__always)
  func store(_ value: Value, ordering: AtomicStoreOrdering) {
    cfutures_store_byte(place, Self.bits(of: value), ordering.rawValue)
  }

  @inlinable
  @inline(__always)
  func compareExchange(
    expected: Value,
    desired: Value,
    ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    let expected = Self.bits(of: expected)
    let original = cfutures_compare_exchange_byte(place, expected, Self.bits(of: desired), ordering.rawValue)
    return (original == expected, Self.value(of: original))
  }
}

extension AtomicByte<UInt8> {
  @inlinable
  @inline(__always)
  @discardableResult
  func bitwiseOr(_ bits: UInt8, ordering: AtomicUpdateOrdering) -> (oldValue: UInt8, newValue: UInt8) {
    let old = cfutures_or_byte(place, bits, ordering.rawValue)
    return (old, old | bits)
  }

  @inlinable
  @inline(__always)
  @discardableResult
  func bitwiseAnd(_ bits: UInt8, ordering: AtomicUpdateOrdering) -> (oldValue: UInt8, newValue: UInt8) {
    let old = cfutures_and_byte(place, bits, ordering.rawValue)
    return (old, old & bits)
  }
}
