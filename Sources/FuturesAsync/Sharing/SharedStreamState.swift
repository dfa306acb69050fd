internal import Futures

/// An event of a source for its readers.
enum SharedStreamEvent<Element: Sendable>: Sendable {
  case element(Element)
  case end((any Error)?)
}

/// An action of the thread that starts and stops the source of a `SharedCallbackStream`.
enum SharedSourceAction<Element: Sendable> {
  /// The source has readers and does not run.
  case start(run: Int, CancellationState)
  /// The source runs without readers. The caller releases `last` after unlocking.
  case stop(CancellationState, last: Element?)
}

/// The unread elements of a reader, and the task that waits for the next one.
///
/// | state | elements | tasks | next |
/// |---|---|---|---|
/// | buffering | as many as its policy keeps | – | waiting, ended |
/// | waiting | – | the tasks that read it; normally one | buffering, ended |
/// | ended | those that it had at the end | – | – |
final class SharedReader<Element: Sendable>: @unchecked Sendable {
  // @unchecked: the lock of the stream protects the variables.
  typealias Policy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
  typealias Waiter = UnsafeContinuation<SharedStreamEvent<Element>, Never>

  private let policy: Policy
  private var unread = FIFO<Element>()
  private var waiters = FIFO<Waiter>()

  /// The end, for the read that finds no element; only the first such read gets its error.
  private var end: SharedStreamEvent<Element>?

  init(_ policy: Policy) { self.policy = policy }

  /// Passes on an element: to the first task that waits, or into the buffer.
  /// - Returns: The task to resume, and the element that the policy drops, for release after unlocking.
  func add(_ element: Element) -> (waiter: Waiter?, dropped: Element?) {
    if let waiter = waiters.popFirst() { return (waiter, nil) }
    switch policy {
    case .bufferingOldest(let limit) where unread.count >= limit: return (nil, element)
    case .bufferingNewest(let limit) where unread.count >= limit:
      guard limit > 0 else { return (nil, element) }
      let dropped = unread.popFirst()
      unread.append(element)
      return (nil, dropped)
    default:
      unread.append(element)
      return (nil, nil)
    }
  }

  /// Returns the next element or the end, or enqueues the task if there is neither.
  func next(_ waiter: Waiter?) -> SharedStreamEvent<Element>? {
    if let element = unread.popFirst() { return .element(element) }
    if let end {
      self.end = .end(nil)
      return end
    }
    if let waiter { waiters.append(waiter) }
    return nil
  }

  /// Ends the reader after its unread elements.
  /// - Returns: The tasks that wait; with one of them, no element is unread.
  func finish(_ error: (any Error)?) -> FIFO<Waiter> {
    guard end == nil else { return FIFO() }
    defer { waiters = FIFO() }
    end = .end(waiters.isEmpty ? error : nil)
    return waiters
  }

  /// Ends the reader at once.
  /// - Returns: The tasks that wait, and the unread elements, for release after unlocking.
  func leave() -> (waiters: FIFO<Waiter>, unread: FIFO<Element>) {
    defer { unread = FIFO() }
    return (finish(nil), unread)
  }
}

/// The state of a `SharedCallbackStream`: its readers and its source.
///
/// An event goes to all readers in one step under the lock. So they get all events in the same order, no event waits for a thread
/// to pass it on, and the readers' policies bound all memory. The thread of the event then resumes the tasks that waited for it.
///
/// One thread at a time starts and stops the source, so two runs never overlap. A thread that finds another one doing that leaves
/// its work to it.
final class SharedStreamState<Element: Sendable> {
  typealias Reader = SharedReader<Element>

  /// What the thread of an event does after unlocking.
  struct Delivery {
    /// The tasks to resume.
    var waiters: [Reader.Waiter] = []
    /// The cancellation of a source that has ended.
    var ended: CancellationState?
    /// The elements to release.
    var released: [Element] = []
  }

  private(set) var readers: [Reader] = []

  /// The cancellation of the present run, from before its start until it ends or is stopped.
  private var cancellationOfRun: CancellationState?
  private var run = 0
  private var isControlling = false

  /// The last element that the running source has yielded.
  private var last: Element?

  // MARK: - Readers

  /// Adds a reader, which begins with the last element if it wants to.
  func add(_ reader: Reader, startingWithLast startsWithLast: Bool) {
    // The policy can drop it; the caller's thread is not the last to release it, because `last` stays.
    if startsWithLast, let last { _ = reader.add(last) }
    readers.append(reader)
  }

  func remove(_ reader: Reader) {
    if let index = readers.firstIndex(where: { $0 === reader }) { readers.remove(at: index) }
  }

  // MARK: - The source

  /// Returns whether the caller is the thread that starts and stops the source.
  func beginControl() -> Bool {
    defer { isControlling = true }
    return !isControlling
  }

  /// Returns the next action; `nil` ends the caller's turn.
  func nextAction() -> SharedSourceAction<Element>? {
    if let cancellationOfRun, readers.isEmpty {
      defer { endRun() }
      return .stop(cancellationOfRun, last: last)
    }
    guard cancellationOfRun == nil, !readers.isEmpty else {
      isControlling = false
      return nil
    }
    let cancellation = CancellationState()
    cancellationOfRun = cancellation
    run += 1
    return .start(run: run, cancellation)
  }

  private func endRun() { (cancellationOfRun, last) = (nil, nil) }

  // MARK: - Events

  /// Gives an event to all readers.
  ///
  /// O(number of readers).
  /// - Returns: The rest of the delivery; `nil` if the run of the event has ended.
  func accept(_ event: SharedStreamEvent<Element>, run: Int) -> Delivery? {
    guard cancellationOfRun != nil, run == self.run else { return nil }
    var delivery = Delivery()
    if let last { delivery.released.append(last) }
    switch event {
    case .element(let element):
      last = element
      for reader in readers {
        let (waiter, dropped) = reader.add(element)
        if let waiter { delivery.waiters.append(waiter) }
        if let dropped { delivery.released.append(dropped) }
      }
    case .end(let error):
      delivery.ended = cancellationOfRun
      for reader in readers {
        var waiters = reader.finish(error)
        while let waiter = waiters.popFirst() { delivery.waiters.append(waiter) }
      }
      readers = []
      endRun()
    }
    return delivery
  }
}
