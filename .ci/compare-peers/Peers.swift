import Dispatch
import Synchronization

let stages = 10
let many = 1_000

/// A row of the table.
enum Work: String, CaseIterable {
  case callback = "promise, future, one callback, success"
  case map = "a `map` of a pending future"
  case flatMap = "a `flatMap` to a resolved future"
  case callbacks = "one of 1,000 callbacks"
  case all = "one of 1,000 inputs of `all`"
  case await = "`await` of a resolved future"

  /// The number of equal parts of an operation; each cost is for a part.
  var parts: Int {
    switch self {
    case .callback, .await: 1
    case .map, .flatMap: stages
    case .callbacks, .all: many
    }
  }
}

/// Repeats one operation, and returns the nanoseconds of all repetitions.
struct Body: Sendable {
  let nanoseconds: @Sendable (_ count: Int) -> Double

  /// Repeats a closure.
  ///
  /// Inlined, so that the compiler inlines a closure literal into the loop.
  @inline(__always)
  static func each(_ operation: @escaping @Sendable (_ index: Int) -> Void) -> Body {
    Body { count in
      let start = DispatchTime.now()
      for index in 0..<count { operation(index) }
      return elapsed(since: start)
    }
  }

  /// Runs in a task of the global pool, which reads the clock.
  static func asynchronous(_ repeated: @escaping @Sendable (_ count: Int) async throws -> Void) -> Body {
    Body { count in
      let semaphore = DispatchSemaphore(value: 0)
      // The semaphore orders the write before the read.
      nonisolated(unsafe) var duration = 0.0
      Task.detached {
        let start = DispatchTime.now()
        do { try await repeated(count) } catch { fatalError("An await threw \(error).") }
        duration = elapsed(since: start)
        semaphore.signal()
      }
      semaphore.wait()
      return duration
    }
  }
}

func elapsed(since start: DispatchTime) -> Double {
  Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds)
}

/// The sum of all results, so that the compiler cannot remove their work.
///
/// Global, so that no callback captures it.
enum Sink {
  private static let sum = Atomic<Int>(0)

  /// Adds a number.
  ///
  /// One thread adds at a time, so a load and a store are enough.
  static func add(_ number: Int) { sum.store(sum.load(ordering: .relaxed) &+ number, ordering: .relaxed) }
}

struct Peer: Sendable {
  let name: String
  let bodies: [Work: Body]

  init(_ name: String, _ bodies: [Work: Body]) { (self.name, self.bodies) = (name, bodies) }

  static let taskGroup = Peer(
    "a task group",
    [
      .all: .asynchronous { count in
        for _ in 0..<count {
          await withTaskGroup(of: Int.self) { group in
            for index in 0..<many { group.addTask { index } }
            for await value in group { Sink.add(value) }
          }
        }
      }
    ]
  )
}

/// One library in one row.
struct Contender {
  let work: Work
  let body: Body
  private var repetitions = 1
  private var samples: [Double] = []

  init?(_ work: Work, _ peer: Peer) {
    guard let body = peer.bodies[work] else { return nil }
    (self.work, self.body) = (work, body)
  }

  /// Warms up, and finds the number of repetitions that take as long as the shortest sample.
  mutating func calibrate(shortest: Double) {
    while true {
      // The shorter of two runs, because the system can interrupt one of them.
      let nanoseconds = min(body.nanoseconds(repetitions), body.nanoseconds(repetitions))
      if nanoseconds >= shortest { return }
      // At most tenfold, because the first repetitions are the slowest.
      let growth = min(10, max(1.2, 1.2 * shortest / max(nanoseconds, 1)))
      repetitions = Int((Double(repetitions) * growth).rounded(.up))
    }
  }

  mutating func sample() { samples.append(body.nanoseconds(repetitions) / Double(repetitions * work.parts)) }

  /// The median of the samples.
  var cell: String { String(Int(samples.sorted()[samples.count / 2].rounded())) }
}

@main
enum Comparison {
  static func main() {
    let isQuick = CommandLine.arguments.contains("--quick")
    let (samples, shortest) = isQuick ? (3, 500_000.0) : (21, 5_000_000.0)
    print("| nanoseconds | \(peers.map(\.name).joined(separator: " | ")) |")
    print("|---|" + String(repeating: "---:|", count: peers.count))
    for work in Work.allCases {
      var contenders = peers.map { Contender(work, $0) }
      for index in contenders.indices { contenders[index]?.calibrate(shortest: shortest) }
      for _ in 0..<samples {
        for index in contenders.indices { contenders[index]?.sample() }
      }
      print("| \(work.rawValue) | \(contenders.map { $0?.cell ?? "–" }.joined(separator: " | ")) |")
    }
  }
}
