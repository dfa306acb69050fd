/// A set of thread numbers.
struct ThreadSet {
  private var bits: UInt = 0

  init() {}

  init(_ threads: Range<Int>) { bits = (1 << UInt(threads.count)) - 1 }

  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }
  var first: Int? { bits == 0 ? nil : bits.trailingZeroBitCount }

  func contains(_ thread: Int) -> Bool { bits & (1 << UInt(thread)) != 0 }

  mutating func insert(_ thread: Int) { bits |= 1 << UInt(thread) }
  mutating func remove(_ thread: Int) { bits &= ~(1 << UInt(thread)) }
  mutating func subtract(_ other: ThreadSet) { bits &= ~other.bits }
  mutating func formUnion(_ other: ThreadSet) { bits |= other.bits }

  func intersection(_ other: ThreadSet) -> ThreadSet {
    var result = self
    result.bits &= other.bits
    return result
  }
}
