internal import Futures

/// An event of a source for its readers.
enum SharedStreamEvent<Element: Sendable>: Sendable {
  case element(Element)
  case end((any Error)?)
}

/// What makes the source of a `SharedCallbackStream` fit its readers.
enum SharedSourceAction {
  case start(run: Int, CancellationState)
  /// With the unread elements, for release after unlocking.
  case stop(CancellationState, unread: AnyObject)
}

/// The state of a `SharedCallbackStream`: its readers, its source and the events between them.
///
/// Two loops act on it, each on one thread at a time. One starts and stops the source, so two runs never overlap.
/// The other passes events on, so all readers get them in the same order. A thread that finds a loop running leaves its work to it.
///
/// A class, and few types in it: the compiler writes code to copy each generic structure, some kilobytes of an executable.
final class SharedStreamState<Element: Sendable, Reader> {
  /// An event, the readers that get it, and the element or elements to release after unlocking.
  ///
  /// `ended` is the cancellation of a source that has ended.
  typealias Delivery = (
    event: SharedStreamEvent<Element>, readers: [Reader], ended: CancellationState?, replaced: Element?,
    unread: AnyObject?
  )

  private final class Unread {
    let last: Element?
    let events: FIFO<SharedStreamEvent<Element>>

    init(_ last: Element?, _ events: FIFO<SharedStreamEvent<Element>>) {
      self.last = last
      self.events = events
    }
  }

  private(set) var readers: [(number: Int, reader: Reader)] = []
  private var lastNumber = 0

  /// The cancellation of the source that starts, or has started; `nil` while none runs.
  private var running: CancellationState?
  private var run = 0
  private var isControlling = false

  /// The last element that the running source has passed to readers.
  private(set) var last: Element?
  private var events = FIFO<SharedStreamEvent<Element>>()
  private var isDelivering = false

  // MARK: - Readers

  /// - Returns: The number of the reader.
  func add(_ reader: Reader) -> Int {
    lastNumber += 1
    readers.append((lastNumber, reader))
    return lastNumber
  }

  func remove(_ number: Int) -> Reader? {
    guard let index = readers.firstIndex(where: { $0.number == number }) else { return nil }
    return readers.remove(at: index).reader
  }

  // MARK: - The source

  /// Returns whether the caller is the thread that starts and stops the source.
  func beginControl() -> Bool {
    defer { isControlling = true }
    return !isControlling
  }

  /// Returns the next action; `nil` ends the caller's turn.
  func nextAction() -> SharedSourceAction? {
    if let running, readers.isEmpty { return .stop(running, unread: endRun()) }
    guard running == nil, !readers.isEmpty else {
      isControlling = false
      return nil
    }
    let cancellation = CancellationState()
    running = cancellation
    run += 1
    return .start(run: run, cancellation)
  }

  private func endRun() -> AnyObject {
    defer { (running, last, events) = (nil, nil, FIFO()) }
    return Unread(last, events)
  }

  // MARK: - Events

  /// Adds an event, unless its run has ended.
  /// - Returns: Whether the caller is the thread that passes events on.
  func append(_ event: SharedStreamEvent<Element>, run: Int) -> Bool {
    guard running != nil, run == self.run else { return false }
    events.append(event)
    defer { isDelivering = true }
    return !isDelivering
  }

  /// Returns the next event and its readers; `nil` ends the caller's turn.
  func nextDelivery() -> Delivery? {
    guard let cancellation = running, let event = events.popFirst() else {
      isDelivering = false
      return nil
    }
    let readers = readers.map(\.reader)
    switch event {
    case .element(let element):
      defer { last = element }
      return (event, readers, nil, last, nil)
    case .end:
      self.readers = []
      return (event, readers, cancellation, nil, endRun())
    }
  }
}
