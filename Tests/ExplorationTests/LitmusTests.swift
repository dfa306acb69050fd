internal import TestSupport
internal import Testing

/// The ordering of all operations of a litmus program, except operations that the program itself makes relaxed.
enum LitmusOrdering: CaseIterable, Sendable {
  case relaxed, acquireRelease, sequential

  var load: AtomicLoadOrdering {
    switch self {
    case .relaxed: .relaxed
    case .acquireRelease: .acquiring
    case .sequential: .sequentiallyConsistent
    }
  }

  var store: AtomicStoreOrdering {
    switch self {
    case .relaxed: .relaxed
    case .acquireRelease: .releasing
    case .sequential: .sequentiallyConsistent
    }
  }

  var update: AtomicUpdateOrdering {
    switch self {
    case .relaxed: .relaxed
    case .acquireRelease: .acquiringAndReleasing
    case .sequential: .sequentiallyConsistent
    }
  }
}

/// The shared memory of a litmus program.
final class LitmusMemory: @unchecked Sendable {
  // @unchecked: each thread writes registers of its own, and the test reads them after the run.
  let x = Atomic(0)
  let y = Atomic(0)
  let z = Atomic(0)
  let lock = Lock()
  var registers: [Int]

  private let ordering: LitmusOrdering

  init(registerCount: Int, _ ordering: LitmusOrdering) {
    registers = Array(repeating: 0, count: registerCount)
    self.ordering = ordering
  }

  var outcome: String { registers.map(String.init).joined(separator: " ") }

  func load(_ location: borrowing Atomic<Int>) -> Int { location.load(ordering: ordering.load) }

  func store(_ value: Int, to location: borrowing Atomic<Int>) { location.store(value, ordering: ordering.store) }
}

/// A small program whose outcomes the memory model determines.
struct Litmus: Sendable, CustomTestStringConvertible {
  typealias Thread = @Sendable (LitmusMemory, LitmusOrdering) -> Void

  let name: String
  let registerCount: Int
  let threads: [Thread]

  /// The outcomes with each ordering: the registers in order.
  let expected: [LitmusOrdering: Set<String>]

  /// Runs when all threads have ended.
  var end: @Sendable (LitmusMemory) -> Void = { _ in }

  var testDescription: String { name }

  /// Explores the program in every order.
  func outcomes(_ ordering: LitmusOrdering) async -> Set<String> {
    await withCheckedContinuation { continuation in
      startThread {
        var outcomes: Set<String> = []
        let fault = Explorer(.everyOrder).explore {
          let memory = LitmusMemory(registerCount: registerCount, ordering)
          let threads = threads.map { thread in { @Sendable in thread(memory, ordering) } }
          return (
            threads,
            {
              end(memory)
              outcomes.insert(memory.outcome)
              return nil
            }
          )
        }
        continuation.resume(returning: outcomes.union(fault.map { [$0] } ?? []))
      }
    }
  }
}

/// All words of `count` binary digits, except the excluded words.
private func bits(_ count: Int, except excluded: Set<String> = []) -> Set<String> {
  let words = (0..<1 << count).map { word in
    (0..<count).map { String(word >> (count - 1 - $0) & 1) }.joined(separator: " ")
  }
  return Set(words).subtracting(excluded)
}

extension Litmus {
  /// The same outcomes with each ordering.
  private static func always(_ outcomes: Set<String>) -> [LitmusOrdering: Set<String>] {
    [.relaxed: outcomes, .acquireRelease: outcomes, .sequential: outcomes]
  }

  static let all = [
    Litmus(
      name: "message passing",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[0] = memory.load(memory.y)
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: [
        .relaxed: bits(2), .acquireRelease: bits(2, except: ["1 0"]), .sequential: bits(2, except: ["1 0"]),
      ]
    ),
    Litmus(
      name: "message passing to a relaxed load",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[0] = memory.y.load(ordering: .relaxed)
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: always(bits(2))
    ),
    Litmus(
      name: "message passing of the second of two values",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.x.store(2, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[0] = memory.load(memory.y)
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: [
        .relaxed: ["0 0", "0 1", "0 2", "1 0", "1 1", "1 2"],
        .acquireRelease: ["0 0", "0 1", "0 2", "1 2"],
        .sequential: ["0 0", "0 1", "0 2", "1 2"],
      ]
    ),
    Litmus(
      name: "message passing through a lock",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.lock.withLock { memory.store(1, to: memory.y) }
        },
        { memory, _ in
          memory.registers[0] = memory.lock.withLock { memory.y.load(ordering: .relaxed) }
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: always(bits(2, except: ["1 0"]))
    ),
    Litmus(
      name: "message passing through two threads (ISA2)",
      registerCount: 3,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[0] = memory.load(memory.y)
          memory.store(1, to: memory.z)
        },
        { memory, _ in
          memory.registers[1] = memory.load(memory.z)
          memory.registers[2] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: [
        .relaxed: bits(3), .acquireRelease: bits(3, except: ["1 1 0"]), .sequential: bits(3, except: ["1 1 0"]),
      ]
    ),
    Litmus(
      name: "write-to-read causality (WRC)",
      registerCount: 3,
      threads: [
        { memory, _ in memory.x.store(1, ordering: .relaxed) },
        { memory, _ in
          memory.registers[0] = memory.x.load(ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[1] = memory.load(memory.y)
          memory.registers[2] = memory.x.load(ordering: .relaxed)
        },
      ],
      // Coherence: the second thread's load happens before the third thread's load.
      expected: [
        .relaxed: bits(3), .acquireRelease: bits(3, except: ["1 1 0"]), .sequential: bits(3, except: ["1 1 0"]),
      ]
    ),
    Litmus(
      name: "store buffering",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.store(1, to: memory.x)
          memory.registers[0] = memory.load(memory.y)
        },
        { memory, _ in
          memory.store(1, to: memory.y)
          memory.registers[1] = memory.load(memory.x)
        },
      ],
      expected: [.relaxed: bits(2), .acquireRelease: bits(2), .sequential: bits(2, except: ["0 0"])]
    ),
    Litmus(
      name: "load buffering",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.store(1, to: memory.y)
        },
        { memory, _ in
          memory.registers[1] = memory.load(memory.y)
          memory.store(1, to: memory.x)
        },
      ],
      // The model allows 1 1 for relaxed operations; the explorer has no values from the future.
      expected: always(bits(2, except: ["1 1"]))
    ),
    Litmus(
      name: "independent reads of independent writes (IRIW)",
      registerCount: 4,
      threads: [
        { memory, _ in memory.store(1, to: memory.x) },
        { memory, _ in memory.store(1, to: memory.y) },
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.registers[1] = memory.load(memory.y)
        },
        { memory, _ in
          memory.registers[2] = memory.load(memory.y)
          memory.registers[3] = memory.load(memory.x)
        },
      ],
      expected: [.relaxed: bits(4), .acquireRelease: bits(4), .sequential: bits(4, except: ["1 0 1 0"])]
    ),
    Litmus(
      name: "independent reads of independent relaxed writes",
      registerCount: 4,
      threads: [
        { memory, _ in memory.x.store(1, ordering: .relaxed) },
        { memory, _ in memory.y.store(1, ordering: .relaxed) },
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.registers[1] = memory.load(memory.y)
        },
        { memory, _ in
          memory.registers[2] = memory.load(memory.y)
          memory.registers[3] = memory.load(memory.x)
        },
      ],
      expected: [.relaxed: bits(4), .acquireRelease: bits(4), .sequential: bits(4, except: ["1 0 1 0"])]
    ),
    Litmus(
      name: "read-to-write causality (RWC)",
      registerCount: 3,
      threads: [
        { memory, _ in memory.store(1, to: memory.x) },
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.registers[1] = memory.load(memory.y)
        },
        { memory, _ in
          memory.store(1, to: memory.y)
          memory.registers[2] = memory.load(memory.x)
        },
      ],
      expected: [.relaxed: bits(3), .acquireRelease: bits(3), .sequential: bits(3, except: ["1 0 0"])]
    ),
    Litmus(
      name: "coherence of two reads (CoRR)",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.store(1, to: memory.x)
          memory.store(2, to: memory.x)
        },
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.registers[1] = memory.load(memory.x)
        },
      ],
      expected: always(["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"])
    ),
    Litmus(
      name: "coherence of a write and a read (CoWR)",
      registerCount: 1,
      threads: [
        { memory, _ in
          memory.store(1, to: memory.x)
          memory.registers[0] = memory.load(memory.x)
        },
        { memory, _ in memory.store(2, to: memory.x) },
      ],
      expected: always(["1", "2"])
    ),
    Litmus(
      name: "coherence of a read and a write (CoRW)",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.registers[0] = memory.load(memory.x)
          memory.store(1, to: memory.x)
        },
        { memory, _ in memory.store(2, to: memory.x) },
      ],
      expected: always(["0 1", "0 2", "2 1"]),
      end: { memory in memory.registers[1] = memory.x.load(ordering: .relaxed) }
    ),
    Litmus(
      name: "two updates of one value",
      registerCount: 2,
      threads: [
        { memory, ordering in memory.registers[0] = memory.x.subtract(1, ordering: ordering.update).newValue },
        { memory, ordering in memory.registers[1] = memory.x.subtract(1, ordering: ordering.update).newValue },
      ],
      expected: always(["-1 -2", "-2 -1"])
    ),
    Litmus(
      name: "an update replaces the newest value",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.subtract(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, ordering in
          memory.registers[0] = memory.load(memory.y)
          memory.registers[1] = memory.x.subtract(1, ordering: ordering.update).newValue
        },
      ],
      expected: always(["0 -1", "0 -2", "1 -2"])
    ),
    Litmus(
      name: "an exchange that fails is a load",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, ordering in
          memory.registers[0] = memory.load(memory.y)
          let exchange = memory.x.compareExchange(expected: 1, desired: 2, ordering: ordering.update)
          memory.registers[1] = exchange.exchanged ? 1 : 0
        },
      ],
      expected: [
        .relaxed: bits(2), .acquireRelease: bits(2, except: ["1 0"]), .sequential: bits(2, except: ["1 0"]),
      ]
    ),
    Litmus(
      name: "a release sequence of updates",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
        },
        { memory, _ in _ = memory.y.compareExchange(expected: 1, desired: 2, ordering: .relaxed) },
        { memory, _ in
          memory.registers[0] = memory.load(memory.y)
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: [
        .relaxed: ["0 0", "0 1", "1 0", "1 1", "2 0", "2 1"],
        .acquireRelease: ["0 0", "0 1", "1 1", "2 1"],
        .sequential: ["0 0", "0 1", "1 1", "2 1"],
      ]
    ),
    Litmus(
      name: "a relaxed store ends a release sequence",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.x.store(1, ordering: .relaxed)
          memory.store(1, to: memory.y)
          memory.y.store(2, ordering: .relaxed)
        },
        { memory, _ in
          memory.registers[0] = memory.load(memory.y)
          memory.registers[1] = memory.x.load(ordering: .relaxed)
        },
      ],
      expected: [
        .relaxed: ["0 0", "0 1", "1 0", "1 1", "2 0", "2 1"],
        .acquireRelease: ["0 0", "0 1", "1 1", "2 0", "2 1"],
        .sequential: ["0 0", "0 1", "1 1", "2 0", "2 1"],
      ]
    ),
    Litmus(
      name: "two writes of two threads (2+2W)",
      registerCount: 2,
      threads: [
        { memory, _ in
          memory.store(1, to: memory.x)
          memory.store(2, to: memory.y)
        },
        { memory, _ in
          memory.store(1, to: memory.y)
          memory.store(2, to: memory.x)
        },
      ],
      // The model allows 1 1 if a store is not sequentially consistent; the explorer modifies in the order of its steps.
      expected: always(["1 2", "2 1", "2 2"]),
      end: { memory in
        memory.registers = [memory.x.load(ordering: .relaxed), memory.y.load(ordering: .relaxed)]
      }
    ),
  ]
}

@Suite("The explorer's memory model", .timeLimit(.minutes(5)))
struct LitmusTests {
  @Test("A litmus program has the outcomes of the memory model", arguments: Litmus.all, LitmusOrdering.allCases)
  func litmus(litmus: Litmus, ordering: LitmusOrdering) async {
    let (outcomes, expected) = (await litmus.outcomes(ordering), litmus.expected[ordering])
    #expect(outcomes == expected, "\(outcomes.sorted()) instead of \((expected ?? []).sorted())")
  }

  @Test("The explorer finds a thread that uses an object without having seen its creation")
  func unpublishedObject() async {
    final class Shared: @unchecked Sendable {
      let isPublished = Atomic(false)
      var object: LitmusMemory?
    }
    func fault(_ store: AtomicStoreOrdering) async -> String? {
      await withCheckedContinuation { continuation in
        startThread {
          let fault = Explorer(.everyOrder).explore {
            let shared = Shared()
            let writer = { @Sendable in
              shared.object = LitmusMemory(registerCount: 0, .relaxed)
              shared.isPublished.store(true, ordering: store)
            }
            let reader = { @Sendable in
              guard shared.isPublished.load(ordering: .acquiring) else { return }
              _ = shared.object?.x.load(ordering: .relaxed)
            }
            return ([writer, reader], { nil })
          }
          continuation.resume(returning: fault)
        }
      }
    }
    #expect(await fault(.releasing) == nil)
    #expect(await fault(.relaxed)?.hasPrefix("a thread used an object, but has not seen how it was made") == true)
  }
}
