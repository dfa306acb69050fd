/// A first-in-first-out queue, which gives its memory back when it has been long and is empty again.
///
/// One element waits in a slot of its own, since that is all that a chain ever has; the array is for those after it.
package struct FIFO<Element> {
  private var slot: Element?
  private var others: [Element?] = []
  private var firstOther = 0

  /// What an empty queue may keep allocated.
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
    if firstOther < others.count { slot = popOther() }
    return first
  }

  private mutating func popOther() -> Element? {
    let element = others[firstOther].take()
    firstOther += 1
    if firstOther == others.count {
      others.removeAll(keepingCapacity: others.capacity <= Self.keptCapacity)
      firstOther = 0
    } else if firstOther >= Self.keptCapacity, firstOther * 2 >= others.count {
      // At least half is spent: closing the gap now costs amortised O(1), and bounds the memory of a queue that two
      // endless chains keep from ever being empty.
      others.removeFirst(firstOther)
      firstOther = 0
    }
    return element
  }
}
