public import Synchronization

/// An enumeration that is stored in an atomic byte, whose raw values count its cases from zero.
///
/// Q: Why not the synthesized conformance? A: It decodes by `init(rawValue:)`, which compares with each case.
///
/// Each enumeration names `AtomicRepresentable` too. In the explorer's copy of the core, which has an `Atomic` of its own,
/// nothing else of its file uses the import.
@usableFromInline
package protocol AtomicByte: AtomicRepresentable, RawRepresentable<UInt8>
where AtomicRepresentation == UInt8.AtomicRepresentation {}

extension AtomicByte {
  @inlinable
  package static func encodeAtomicRepresentation(_ value: consuming Self) -> UInt8.AtomicRepresentation {
    UInt8.encodeAtomicRepresentation(value.rawValue)
  }

  @inlinable
  package static func decodeAtomicRepresentation(_ representation: consuming UInt8.AtomicRepresentation) -> Self {
    // The bits of a value are the number of its case.
    unsafeBitCast(UInt8.decodeAtomicRepresentation(representation), to: Self.self)
  }
}
