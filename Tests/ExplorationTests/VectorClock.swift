/// The steps of each thread that a thread has seen.
///
/// Four variables instead of an array, because each step copies clocks.
struct VectorClock {
  /// The greatest number of threads of a program.
  static let maximumThreads = 4

  private var (first, second, third, fourth) = (0, 0, 0, 0)

  subscript(thread: Int) -> Int {
    get {
      switch thread {
      case 0: first
      case 1: second
      case 2: third
      default: fourth
      }
    }
    set {
      switch thread {
      case 0: first = newValue
      case 1: second = newValue
      case 2: third = newValue
      default: fourth = newValue
      }
    }
  }

  mutating func merge(_ other: VectorClock) {
    if other.first > first { first = other.first }
    if other.second > second { second = other.second }
    if other.third > third { third = other.third }
    if other.fourth > fourth { fourth = other.fourth }
  }
}

/// The place of an action in the order of its thread.
struct Event {
  let thread: Int
  let time: Int
}

/// The first step of each thread that used a value.
struct FirstUses {
  private var events: [Event]

  /// The value that a location has before the threads begin, which all threads have seen.
  static let beforeThreads = FirstUses(events: [])

  /// A value that `event` has stored.
  init(_ event: Event) { events = [event] }

  private init(events: [Event]) { self.events = events }

  mutating func note(_ event: Event) {
    if events.isEmpty || events.contains(where: { $0.thread == event.thread }) { return }
    events.append(event)
  }

  /// Whether a thread with this clock has seen one of the uses.
  func haveOne(seenBy clock: VectorClock) -> Bool {
    events.isEmpty || events.contains { $0.time <= clock[$0.thread] }
  }
}
