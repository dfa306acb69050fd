/// The steps of each thread that a thread has seen.
struct VectorClock {
  /// The greatest number of threads of a program.
  static let maximumThreads = 4

  fileprivate var steps = SIMD4<Int>()

  subscript(thread: Int) -> Int { steps[thread] }

  mutating func advance(_ thread: Int) { steps[thread] += 1 }

  mutating func merge(_ other: VectorClock) { steps.replace(with: other.steps, where: other.steps .> steps) }
}

/// The place of an action in the order of its thread.
struct Event {
  let thread: Int
  let time: Int
}

/// For each thread the first of its steps that used a value.
struct FirstUses {
  private var times: SIMD4<Int>

  /// The value that a location has before the threads begin, which all threads have seen.
  static let beforeThreads = FirstUses(times: SIMD4())

  /// A value that `event` has stored.
  init(_ event: Event) {
    times = SIMD4(repeating: .max)
    times[event.thread] = event.time
  }

  private init(times: SIMD4<Int>) { self.times = times }

  mutating func note(_ event: Event) { times[event.thread] = min(times[event.thread], event.time) }

  /// Whether a thread with this clock has seen one of the uses.
  func haveOne(seenBy clock: VectorClock) -> Bool { any(times .<= clock.steps) }
}
