/// A binary heap: a collection that removes its smallest element first.
package struct Heap<Element: Comparable> {
  /// No element is less than its parent, whose position, counted from 1, is half the element's position.
  package private(set) var elements: [Element] = []

  package init() {}

  /// Makes a heap of elements, in O(n).
  package init(_ elements: [Element]) {
    self.elements = elements
    for index in (0..<elements.count / 2).reversed() { siftDown(from: index) }  // the second half has no children
  }

  package var first: Element? { elements.first }

  /// Inserts an element, in O(log n).
  package mutating func insert(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard elements[index] < elements[parent] else { return }
      elements.swapAt(index, parent)
      index = parent
    }
  }

  /// Removes the smallest element, in O(log n); the heap must not be empty.
  package mutating func removeFirst() {
    elements.swapAt(0, elements.count - 1)
    elements.removeLast()
    siftDown(from: 0)
  }

  /// Moves an element down until none of its children is smaller.
  private mutating func siftDown(from start: Int) {
    var index = start
    while true {
      let children = (2 * index + 1..<2 * index + 3).clamped(to: 0..<elements.count)  // none, one or two
      guard let child = children.min(by: { elements[$0] < elements[$1] }), elements[child] < elements[index] else {
        return
      }
      elements.swapAt(index, child)
      index = child
    }
  }
}
