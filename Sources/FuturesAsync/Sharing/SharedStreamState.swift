internal import Futures

/// An event of a source for its readers.
enum SharedStreamEvent<Element: Sendable>: Sendable {
  case element(Element)
  case end((any Error)?)
}

/// An action of the thread that starts and stops the source of a `SharedCallbackStream`.
enum SharedSourceAction {
  /// The source has readers and does not run.
  case start(run: Int, CancellationState)
  /// The source runs without readers. `unread` is an object to release after unlocking.
  case stop(CancellationState, unread: AnyObject)
}

/// The state of a `SharedCallbackStream`: its readers, its source and the events between them.
///
/// Two loops act on it, each on one thread at a time. One starts and stops the source, so two runs never overlap.
/// The other passes events on, so all readers get them in the same order. A thread that finds a loop running leaves its work to it.
///
/// A class with few types in it: the code that copies a generic structure takes kilobytes of each executable.
final class SharedStreamState<Element: Sendable, Reader> {
  /// An event and the readers that get it.
  ///
  /// `ended` is the cancellation of a source that has ended. The caller releases `replaced`, the element before this one, and
  /// `unread`, the elements of an ended source, after unlocking.
  typealias Delivery = (
    event: SharedStreamEvent<Element>, readers: [Reader], ended: CancellationState?, replaced: Element?,
    unread: AnyObject?
  )

  /// The elements of a source that has ended or was stopped.
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

  /// The cancellation of the present run, from before its start until it ends or is stopped.
  private var cancellationOfRun: CancellationState?
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
    if let cancellationOfRun, readers.isEmpty { return .stop(cancellationOfRun, unread: endRun()) }
    guard cancellationOfRun == nil, !readers.isEmpty else {
      isControlling = false
      return nil
    }
    let cancellation = CancellationState()
    cancellationOfRun = cancellation
    run += 1
    return .start(run: run, cancellation)
  }

  private func endRun() -> AnyObject {
    defer { (cancellationOfRun, last, events) = (nil, nil, FIFO()) }
    return Unread(last, events)
  }

  // MARK: - Events

  /// Adds an event, unless its run has ended.
  /// - Returns: Whether the caller is the thread that passes events on.
  func append(_ event: SharedStreamEvent<Element>, run: Int) -> Bool {
    guard cancellationOfRun != nil, run == self.run else { return false }
    events.append(event)
    defer { isDelivering = true }
    return !isDelivering
  }

  /// Returns the next event and its readers; `nil` ends the caller's turn.
  func nextDelivery() -> Delivery? {
    guard let cancellationOfRun, let event = events.popFirst() else {
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
      return (event, readers, cancellationOfRun, nil, endRun())
    }
  }
}
