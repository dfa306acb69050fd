import Futures
import Testing

struct HeapTests {
  /// A number that counts how often it is compared.
  private struct Counted: Comparable {
    let number: Int
    let comparisons: Comparisons

    static func < (left: Counted, right: Counted) -> Bool {
      left.comparisons.count += 1
      return left.number < right.number
    }

    static func == (left: Counted, right: Counted) -> Bool { left.number == right.number }
  }

  private final class Comparisons {
    var count = 0
  }

  @Test("Inserting costs O(log n) and removing O(log n), even if each element is smaller than all before it")
  func costOfEachOperation() {
    let comparisons = Comparisons()
    let count = 4_096
    var heap = Heap<Counted>()
    for number in (0..<count).reversed() { heap.insert(Counted(number: number, comparisons: comparisons)) }
    let ofInsertions = comparisons.count
    comparisons.count = 0
    #expect(ofInsertions <= count * 12, "at most log2(n) comparisons each")
    for number in 0..<count {
      #expect(heap.first?.number == number)
      heap.removeFirst()
    }
    #expect(heap.first == nil)
    let ofRemovals = comparisons.count
    #expect(ofRemovals <= 2 * count * 12, "at most two comparisons for each of log2(n) levels")
  }

  @Test("Building a heap of n elements costs O(n)")
  func costOfBuilding() {
    let comparisons = Comparisons()
    let count = 4_096
    let heap = Heap((0..<count).reversed().map { Counted(number: $0, comparisons: comparisons) })
    #expect(heap.first?.number == 0)
    #expect(comparisons.count <= 2 * count)
  }
}
