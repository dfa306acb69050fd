/// A first-in-first-out queue that frees its memory when it has been long and becomes empty.
///
/// The first element has a slot of its own: a chain never enqueues more than one, so it allocates no array.
package struct FIFO<Element> {
  private var slot: Element?
  /// The elements after `slot`; the first `firstOther` places are a gap, whose elements were taken.
  private var others: [Element?] = []
  private var firstOther = 0

  /// The greatest capacity that an empty queue keeps, and the shortest gap that a queue closes.
  private static var keptCapacity: Int { 64 }

  package init() {}

  package var isEmpty: Bool { slot == nil }
  package var count: Int { isEmpty ? 0 : 1 + others.count - firstOther }
  package var first: Element? { slot }

  package mutating func append(_ element: Element) {
    if slot == nil { slot = element } else { others.append(element) }
  }

  package mutating func popFirst() -> Element? {
    guard let first = slot.take() else { return nil }
    if firstOther < others.count { slot = popOther() }  // so the slot is empty only if the queue is
    return first
  }

  /// Takes the next element of `others`, and closes the gap before it once the gap is long.
  private mutating func popOther() -> Element? {
    let element = others[firstOther].take()
    firstOther += 1
    if firstOther == others.count {
      others.removeAll(keepingCapacity: others.capacity <= Self.keptCapacity)
      firstOther = 0
    } else if firstOther >= Self.keptCapacity, firstOther * 2 >= others.count {
      // At least half of the array is spent, so closing the gap costs amortised O(1). Otherwise the array of a queue
      // that never becomes short would grow for ever.
      others.removeFirst(firstOther)
      firstOther = 0
    }
    return element
  }
}
