internal import TestSupport
internal import Testing

/// The ordering of all operations of a litmus program, except operations that the program itself makes relaxed.
enum LitmusOrdering: Int, CaseIterable, Sendable {
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
  final class Place: Sendable {
    let value = Atomic(0)
  }

  let places = [Place(), Place(), Place()]
  let lock = Lock()
  var registers: [Int]

  init(registerCount: Int) { registers = Array(repeating: 0, count: registerCount) }
}

/// One operation of a thread of a litmus program, with the ordering of the test.
struct LitmusStep: Sendable {
  enum Place: Int {
    case x, y, z
  }

  var hasRegister = true

  /// Returns the value of the step's register, if it has one.
  let run: @Sendable (LitmusMemory, LitmusOrdering) -> Int

  static func load(_ place: Place) -> LitmusStep {
    LitmusStep { $0.places[place.rawValue].value.load(ordering: $1.load) }
  }

  static func store(_ value: Int, _ place: Place) -> LitmusStep {
    LitmusStep(hasRegister: false) { memory, ordering in
      memory.places[place.rawValue].value.store(value, ordering: ordering.store)
      return 0
    }
  }

  /// The register gets the new value.
  static func decrement(_ place: Place) -> LitmusStep {
    LitmusStep { $0.places[place.rawValue].value.subtract(1, ordering: $1.update).newValue }
  }

  /// The register gets 1 if the value was `expected`, and 0 otherwise.
  static func exchange(_ expected: Int, for desired: Int, _ place: Place) -> LitmusStep {
    LitmusStep { memory, ordering in
      let value = memory.places[place.rawValue]
      let exchange = value.value.compareExchange(expected: expected, desired: desired, ordering: ordering.update)
      return exchange.exchanged ? 1 : 0
    }
  }

  var relaxed: LitmusStep {
    LitmusStep(hasRegister: hasRegister) { memory, _ in run(memory, .relaxed) }
  }

  var locked: LitmusStep {
    LitmusStep(hasRegister: hasRegister) { memory, ordering in memory.lock.withLock { run(memory, ordering) } }
  }

  var withoutRegister: LitmusStep { LitmusStep(hasRegister: false, run: run) }
}

/// A small program whose outcomes the memory model determines.
struct Litmus: Sendable, CustomTestStringConvertible {
  let name: String
  let threads: [[LitmusStep]]

  /// The outcomes that some ordering has: the registers of the threads in turn, then the last values of `end`.
  let outcomes: Set<String>

  /// The outcomes that only orderings below `ordering` have.
  let excluded: Set<String>
  let ordering: LitmusOrdering

  /// The places whose values belong to the outcome.
  let end: [LitmusStep.Place]

  /// Without `outcomes`, each word of binary digits is an outcome.
  init(
    _ name: String,
    _ threads: [[LitmusStep]],
    _ outcomes: Set<String>? = nil,
    except excluded: Set<String> = [],
    from ordering: LitmusOrdering = .relaxed,
    end: [LitmusStep.Place] = []
  ) {
    self.name = name
    self.threads = threads
    self.excluded = excluded
    self.ordering = ordering
    self.end = end
    self.outcomes = outcomes ?? Self.words(threads.joined().count { $0.hasRegister })
  }

  /// All words of `count` binary digits.
  private static func words(_ count: Int) -> Set<String> {
    Set(
      (0..<1 << count).map { word in
        (0..<count).map { String(word >> (count - 1 - $0) & 1) }.joined(separator: " ")
      }
    )
  }

  var testDescription: String { name }

  func expected(_ ordering: LitmusOrdering) -> Set<String> {
    ordering.rawValue < self.ordering.rawValue ? outcomes : outcomes.subtracting(excluded)
  }

  /// Explores the program in every order.
  func explore(_ ordering: LitmusOrdering) async -> Set<String> {
    await withCheckedContinuation { continuation in
      startThread {
        var found: Set<String> = []
        let fault = Explorer(.everyOrder).explore {
          let memory = LitmusMemory(registerCount: threads.joined().count { $0.hasRegister })
          var firstRegister = 0
          let bodies = threads.map { steps in
            let first = firstRegister
            firstRegister += steps.count { $0.hasRegister }
            return { @Sendable in
              var register = first
              for step in steps {
                let value = step.run(memory, ordering)
                guard step.hasRegister else { continue }
                memory.registers[register] = value
                register += 1
              }
            }
          }
          return (
            bodies,
            {
              let last = end.map { memory.places[$0.rawValue].value.load(ordering: .relaxed) }
              found.insert((memory.registers + last).map(String.init).joined(separator: " "))
              return nil
            }
          )
        }
        continuation.resume(returning: found.union(fault.map { [$0] } ?? []))
      }
    }
  }
}

extension Litmus {
  static let all = [
    Litmus(
      "message passing",
      [[.store(1, .x).relaxed, .store(1, .y)], [.load(.y), .load(.x).relaxed]],
      except: ["1 0"],
      from: .acquireRelease
    ),
    Litmus(
      "message passing to a relaxed load",
      [[.store(1, .x).relaxed, .store(1, .y)], [.load(.y).relaxed, .load(.x).relaxed]]
    ),
    Litmus(
      "message passing of the second of two values",
      [[.store(1, .x).relaxed, .store(2, .x).relaxed, .store(1, .y)], [.load(.y), .load(.x).relaxed]],
      ["0 0", "0 1", "0 2", "1 0", "1 1", "1 2"],
      except: ["1 0", "1 1"],
      from: .acquireRelease
    ),
    Litmus(
      "message passing through a lock",
      [[.store(1, .x).relaxed, .store(1, .y).locked], [.load(.y).relaxed.locked, .load(.x).relaxed]],
      except: ["1 0"]
    ),
    Litmus(
      "message passing through two threads (ISA2)",
      [
        [.store(1, .x).relaxed, .store(1, .y)], [.load(.y), .store(1, .z)], [.load(.z), .load(.x).relaxed],
      ],
      except: ["1 1 0"],
      from: .acquireRelease
    ),
    // Coherence: the second thread's load happens before the third thread's load.
    Litmus(
      "write-to-read causality (WRC)",
      [[.store(1, .x).relaxed], [.load(.x).relaxed, .store(1, .y)], [.load(.y), .load(.x).relaxed]],
      except: ["1 1 0"],
      from: .acquireRelease
    ),
    Litmus(
      "store buffering",
      [[.store(1, .x), .load(.y)], [.store(1, .y), .load(.x)]],
      except: ["0 0"],
      from: .sequential
    ),
    // The model allows 1 1 for relaxed operations; the explorer cannot load a value before it is stored.
    Litmus("load buffering", [[.load(.x), .store(1, .y)], [.load(.y), .store(1, .x)]], except: ["1 1"]),
    Litmus(
      "independent reads of independent writes (IRIW)",
      [[.store(1, .x)], [.store(1, .y)], [.load(.x), .load(.y)], [.load(.y), .load(.x)]],
      except: ["1 0 1 0"],
      from: .sequential
    ),
    Litmus(
      "independent reads of independent relaxed writes",
      [[.store(1, .x).relaxed], [.store(1, .y).relaxed], [.load(.x), .load(.y)], [.load(.y), .load(.x)]],
      except: ["1 0 1 0"],
      from: .sequential
    ),
    Litmus(
      "read-to-write causality (RWC)",
      [[.store(1, .x)], [.load(.x), .load(.y)], [.store(1, .y), .load(.x)]],
      except: ["1 0 0"],
      from: .sequential
    ),
    Litmus(
      "coherence of two reads (CoRR)",
      [[.store(1, .x), .store(2, .x)], [.load(.x), .load(.x)]],
      ["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"]
    ),
    Litmus("coherence of a write and a read (CoWR)", [[.store(1, .x), .load(.x)], [.store(2, .x)]], ["1", "2"]),
    Litmus(
      "coherence of a read and a write (CoRW)",
      [[.load(.x), .store(1, .x)], [.store(2, .x)]],
      ["0 1", "0 2", "2 1"],
      end: [.x]
    ),
    Litmus("two updates of one value", [[.decrement(.x)], [.decrement(.x)]], ["-1 -2", "-2 -1"]),
    Litmus(
      "an update replaces the newest value",
      [[.decrement(.x).relaxed.withoutRegister, .store(1, .y)], [.load(.y), .decrement(.x)]],
      ["0 -1", "0 -2", "1 -2"]
    ),
    Litmus(
      "an exchange that fails is a load",
      [[.store(1, .x).relaxed, .store(1, .y)], [.load(.y), .exchange(1, for: 2, .x)]],
      except: ["1 0"],
      from: .acquireRelease
    ),
    Litmus(
      "a release sequence of updates",
      [
        [.store(1, .x).relaxed, .store(1, .y)], [.exchange(1, for: 2, .y).relaxed.withoutRegister],
        [.load(.y), .load(.x).relaxed],
      ],
      ["0 0", "0 1", "1 0", "1 1", "2 0", "2 1"],
      except: ["1 0", "2 0"],
      from: .acquireRelease
    ),
    Litmus(
      "a relaxed store ends a release sequence",
      [[.store(1, .x).relaxed, .store(1, .y), .store(2, .y).relaxed], [.load(.y), .load(.x).relaxed]],
      ["0 0", "0 1", "1 0", "1 1", "2 0", "2 1"],
      except: ["1 0"],
      from: .acquireRelease
    ),
    // The model allows 1 1 if a store is not sequentially consistent; the explorer modifies in the order of its steps.
    Litmus(
      "two writes of two threads (2+2W)",
      [[.store(1, .x), .store(2, .y)], [.store(1, .y), .store(2, .x)]],
      ["1 2", "2 1", "2 2"],
      end: [.x, .y]
    ),
  ]
}

@Suite("The explorer's memory model", .timeLimit(.minutes(20)))
struct LitmusTests {
  @Test("A litmus program has the outcomes of the memory model", arguments: Litmus.all, LitmusOrdering.allCases)
  func litmus(litmus: Litmus, ordering: LitmusOrdering) async {
    let (outcomes, expected) = (await litmus.explore(ordering), litmus.expected(ordering))
    #expect(outcomes == expected, "\(outcomes.sorted()) instead of \(expected.sorted())")
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
              shared.object = LitmusMemory(registerCount: 0)
              shared.isPublished.store(true, ordering: store)
            }
            let reader = { @Sendable in
              guard shared.isPublished.load(ordering: .acquiring) else { return }
              _ = shared.object?.places[0].value.load(ordering: .relaxed)
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
