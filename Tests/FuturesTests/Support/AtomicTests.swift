// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import TestSupport
  import Testing

  @testable import Futures

  /// Holds atomics of one byte, which a compiler would put side by side.
  private final class Neighbours: Sendable {
    let first = AtomicByte<UInt8>(0)
    let second = AtomicByte<UInt8>(0)
    let third = AtomicByte<UInt8>(0)
  }

  /// Publishes a number that is not atomic.
  private final class Mailbox: @unchecked Sendable {
    // @unchecked: `letter` is written before, and read after, the flag is true.
    var letter = 0
    let isFull = AtomicByte(false)
    let openings = AtomicWord(2)
  }

  @Suite(.timeLimit(.minutes(20)))
  struct AtomicTests {
    private enum Step: UInt8, BitwiseCopyable { case one, two, three }

    @Test("A byte and a word take no more memory than their values, and an object keeps them side by side")
    func layout() {
      #expect(MemoryLayout<AtomicByte<Step>>.size == 1)
      #expect(MemoryLayout<AtomicByte<Step>>.alignment == 1)
      #expect(MemoryLayout<AtomicWord<Int>>.size == MemoryLayout<Int>.size)
      #expect(MemoryLayout<AtomicWord<Int>>.alignment == MemoryLayout<Int>.alignment)
      let neighbours = Neighbours()
      #expect(neighbours.second.place - neighbours.first.place == 1)
    }

    @Test(
      "An exchange stores exactly if it finds the expected value, and returns the value that it finds, with each ordering",
      arguments: [AtomicUpdateOrdering.relaxed, .acquiring, .releasing, .acquiringAndReleasing]
    )
    func compareExchange(ordering: AtomicUpdateOrdering) {
      let step = AtomicByte(Step.one)
      #expect(step.compareExchange(expected: .two, desired: .three, ordering: ordering) == (false, .one))
      #expect(step.load(ordering: .relaxed) == .one)
      #expect(step.compareExchange(expected: .one, desired: .three, ordering: ordering) == (true, .one))
      #expect(step.load(ordering: .relaxed) == .three)
    }

    @Test(
      "Changes of bits and subtractions return the old and the new value, with each ordering",
      arguments: [AtomicUpdateOrdering.relaxed, .acquiring, .releasing, .acquiringAndReleasing]
    )
    func updates(ordering: AtomicUpdateOrdering) {
      let bits = AtomicByte<UInt8>(0b0101)
      #expect(bits.bitwiseOr(0b0011, ordering: ordering) == (0b0101, 0b0111))
      #expect(bits.bitwiseAnd(0b1110, ordering: ordering) == (0b0111, 0b0110))
      #expect(bits.load(ordering: .relaxed) == 0b0110)
      let number = AtomicWord(1)
      #expect(number.subtract(3, ordering: ordering) == (1, -2))
      #expect(number.load(ordering: .relaxed) == -2)
    }

    @Test("Threads that change neighbouring bytes lose no change")
    func neighbours() {
      let neighbours = Neighbours()
      race(
        (0..<4).map { thread in
          {
            let bit: UInt8 = 1 << thread
            for _ in 0..<20_000 {
              neighbours.second.bitwiseOr(bit, ordering: .relaxed)
              neighbours.first.store(255, ordering: .relaxed)
              neighbours.third.store(255, ordering: .relaxed)
              let old = neighbours.second.bitwiseAnd(~bit, ordering: .relaxed).oldValue
              if old & bit == 0 { Issue.record("A bit was lost.") }
            }
          }
        }
      )
      #expect(neighbours.second.load(ordering: .relaxed) == 0)
    }

    @Test("Each release is seen by an acquire: of two threads, the last to arrive sees the work of the first")
    func publication() {
      let mailboxes = (0..<10_000).map { _ in Mailbox() }
      race([
        {
          for (number, mailbox) in mailboxes.enumerated() {
            mailbox.letter = number
            mailbox.isFull.store(true, ordering: .releasing)
            mailbox.openings.subtract(1, ordering: .acquiringAndReleasing)
          }
        },
        {
          for (number, mailbox) in mailboxes.enumerated() {
            let isFull = mailbox.isFull.load(ordering: .acquiring)
            let isLast = mailbox.openings.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
            if isFull || isLast, mailbox.letter != number { Issue.record("The letter is missing.") }
          }
        },
      ])
      #expect(mailboxes.allSatisfy { $0.openings.load(ordering: .relaxed) == 0 })
    }
  }
#endif
