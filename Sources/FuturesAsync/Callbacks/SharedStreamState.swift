internal import Futures

/// An event of a source for its readers.
enum SharedStreamEvent<Element: Sendable>: Sendable {
  case element(Element)
  case end((any Error)?)
}

/// The state of a `SharedCallbackStream`: its readers, its source and the events between them.
///
/// Two loops act on it, each on one thread at a time. One starts and stops the source, so two runs never overlap.
/// The other passes events on, so all readers get them in the same order. A thread that finds a loop running leaves its work to it.
struct SharedStreamState<Element: Sendable, Reader> {
  /// An action that makes the source fit the readers.
  enum Control {
    case start(run: Int, CancellationState)
    /// With the elements to release after unlocking.
    case stop(CancellationState, unread: Unread)
  }

  /// An event and the readers that get it, with the elements to release after unlocking.
  enum Delivery {
    case element(Element, [Reader], replaced: Element?)
    case end((any Error)?, [Reader], CancellationState, unread: Unread)
  }

  struct Unread {
    let last: Element?
    let events: FIFO<SharedStreamEvent<Element>>
  }

  private enum Source {
    /// Next is `running`.
    case idle
    /// Starts, or has started. Next is `idle`: its last reader has left, or it has ended.
    case running(CancellationState)
  }

  private(set) var readers: [(number: Int, reader: Reader)] = []
  private var lastNumber = 0

  private var source = Source.idle
  private var run = 0
  private var isControlling = false

  /// The last element that the running source has passed to readers.
  private(set) var last: Element?
  private var events = FIFO<SharedStreamEvent<Element>>()
  private var isDelivering = false

  // MARK: - Readers

  /// - Returns: The number of the reader.
  mutating func add(_ reader: Reader) -> Int {
    lastNumber += 1
    readers.append((lastNumber, reader))
    return lastNumber
  }

  mutating func remove(_ number: Int) -> Reader? {
    guard let index = readers.firstIndex(where: { $0.number == number }) else { return nil }
    return readers.remove(at: index).reader
  }

  // MARK: - The source

  /// Returns whether the caller is the thread that starts and stops the source.
  mutating func beginControl() -> Bool {
    defer { isControlling = true }
    return !isControlling
  }

  /// Returns the next action; `nil` ends the caller's turn.
  mutating func nextControl() -> Control? {
    switch source {
    case .idle where !readers.isEmpty:
      let cancellation = CancellationState()
      source = .running(cancellation)
      run += 1
      return .start(run: run, cancellation)
    case .running(let cancellation) where readers.isEmpty:
      return .stop(cancellation, unread: endRun())
    case .idle, .running:
      isControlling = false
      return nil
    }
  }

  private mutating func endRun() -> Unread {
    defer { (source, last, events) = (.idle, nil, FIFO()) }
    return Unread(last: last, events: events)
  }

  // MARK: - Events

  /// Adds an event, unless its run has ended.
  /// - Returns: Whether the caller is the thread that passes events on.
  mutating func append(_ event: SharedStreamEvent<Element>, run: Int) -> Bool {
    guard case .running = source, run == self.run else { return false }
    events.append(event)
    defer { isDelivering = true }
    return !isDelivering
  }

  /// Returns the next event and its readers; `nil` ends the caller's turn.
  mutating func nextDelivery() -> Delivery? {
    guard case .running(let cancellation) = source, let event = events.popFirst() else {
      isDelivering = false
      return nil
    }
    let readers = readers.map(\.reader)
    switch event {
    case .element(let element):
      defer { last = element }
      return .element(element, readers, replaced: last)
    case .end(let error):
      self.readers = []
      return .end(error, readers, cancellation, unread: endRun())
    }
  }
}
