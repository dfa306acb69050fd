public import CFutures

/// An atomic value of one word: an `Int`, or an unmanaged reference.
///
/// Traps if a value has another size.
@_rawLayout(like: UInt)
@frozen
@usableFromInline
struct AtomicWord<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // @unchecked: after the initializer, each access is atomic.
  @inlinable
  @inline(__always)
  init(_ value: Value) { place.initializeMemory(as: UInt.self, to: unsafeBitCast(value, to: UInt.self)) }

  /// The address of the value, which does not change while the value is borrowed.
  @inlinable
  @inline(__always)
  var place: UnsafeMutableRawPointer { withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) } }

  @inlinable
  @inline(__always)
  func load(ordering: AtomicLoadOrdering) -> Value {
    unsafeBitCast(cfutures_load_word(place, ordering.rawValue), to: Value.self)
  }

  @inlinable
  @inline(__always)
  func store(_ value: Value, ordering: AtomicStoreOrdering) {
    cfutures_store_word(place, unsafeBitCast(value, to: UInt.self), ordering.rawValue)
  }
}

extension AtomicWord<Int> {
  @inlinable
  @inline(__always)
  @discardableResult
  func subtract(_ operand: Int, ordering: AtomicUpdateOrdering) -> (oldValue: Int, newValue: Int) {
    let old = Int(bitPattern: cfutures_subtract_word(place, UInt(bitPattern: operand), ordering.rawValue))
    return (old, old &- operand)
  }
}
