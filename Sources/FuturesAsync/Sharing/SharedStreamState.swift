internal import Futures

// No type of this file depends on the type of the elements: an element is boxed once for all readers. Generic code of a library that
// clients do not inline takes a microsecond for each reader and element.

/// An element for several readers.
final class SharedElement<Element: Sendable>: Sendable {
  let element: Element

  init(_ element: Element) { self.element = element }
}

/// An event of a source for its readers.
enum SharedStreamEvent: Sendable {
  /// A `SharedElement`.
  case element(any AnyObject & Sendable)
  case end((any Error)?)
}

/// An action of the thread that starts and stops the source of a `SharedCallbackStream`.
enum SharedSourceAction {
  /// The source has readers and does not run.
  case start(run: Int, CancellationState)
  /// The source runs without readers. `last` is its last element, which the caller releases after unlocking.
  case stop(CancellationState, last: AnyObject?)
}

/// The unread elements of a reader, and the task that waits for the next one.
///
/// | state | elements | tasks | next |
/// |---|---|---|---|
/// | buffering | as many as its policy keeps | – | waiting, ended |
/// | waiting | – | the tasks that read it; normally one | buffering, ended |
/// | ended | those that it had at the end | – | – |
final class SharedReader: @unchecked Sendable {
  // @unchecked: the lock of the stream protects the variables.
  typealias Element = any AnyObject & Sendable
  typealias Waiter = UnsafeContinuation<SharedStreamEvent, Never>

  /// How many unread elements a reader keeps: one more replaces the oldest if `keepsNewest`, and otherwise is dropped.
  struct Policy: Sendable {
    var limit = Int.max
    var keepsNewest = false
  }

  private let policy: Policy

  /// The unread elements from `first` on; the places before it are empty.
  private var elements: [Element?] = []
  private var first = 0
  private var waiters: [Waiter] = []

  /// The end, for the read that finds no element; only the first such read gets its error.
  private var end: SharedStreamEvent?

  init(_ policy: Policy) { self.policy = policy }

  /// Takes an element: for the first task that waits, otherwise into the buffer.
  /// - Returns: The task to resume with the element, and the element that the policy drops, for release after unlocking.
  func add(_ element: Element) -> (waiter: Waiter?, dropped: Element?) {
    if !waiters.isEmpty { return (waiters.removeFirst(), nil) }
    let isFull = elements.count - first >= policy.limit
    let oldest = isFull && policy.keepsNewest ? popFirst() : nil
    if isFull, oldest == nil { return (nil, element) }  // keeps the oldest, or the limit is 0
    elements.append(element)
    return (nil, oldest)
  }

  /// Removes and returns the oldest unread element; `nil` if there is none.
  private func popFirst() -> Element? {
    guard first < elements.count, let element = elements[first].take() else { return nil }
    first += 1
    // Removes the empty places when they are at least half of all: amortised O(1) for each element.
    if first * 2 >= elements.count {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }

  /// Returns the next element or the end; without either, enqueues `waiter`, if one is given, and returns `nil`.
  func next(_ waiter: Waiter?) -> SharedStreamEvent? {
    if let element = popFirst() { return .element(element) }
    if let end {
      self.end = .end(nil)  // later reads get no error
      return end
    }
    if let waiter { waiters.append(waiter) }
    return nil
  }

  /// Ends the reader after its unread elements; does nothing if it has ended.
  /// - Returns: The waiting tasks, which the caller resumes with the end. They exist only if no element is unread.
  func finish(_ error: (any Error)?) -> [Waiter] {
    guard end == nil else { return [] }
    defer { waiters = [] }
    // If tasks wait, the caller resumes them with the error. Then later reads do not get it.
    end = .end(waiters.isEmpty ? error : nil)
    return waiters
  }

  /// Ends the reader at once, and removes its unread elements.
  /// - Returns: The tasks that wait, and the unread elements, for release after unlocking.
  func leave() -> (waiters: [Waiter], unread: [Element?]) {
    defer { (elements, first) = ([], 0) }
    return (finish(nil), elements)
  }
}

/// The state of a `SharedCallbackStream`: its readers and its source.
///
/// An event goes to all readers in one step under the lock. So they get all events in the same order, no event waits for a thread
/// to pass it on, and the readers' policies bound all memory. The thread of the event then resumes the tasks that waited for it.
///
/// A run lasts from a start of the source until the source ends or is stopped. Only one thread at a time starts and stops the source,
/// so two runs never overlap. That thread also makes the starts and stops that other threads cause meanwhile.
final class SharedStreamState {
  typealias Element = SharedReader.Element

  /// The follow-up of an event, which its thread performs after unlocking.
  struct Delivery {
    /// The tasks to resume.
    var waiters: [SharedReader.Waiter] = []
    /// The cancellation of a source that has ended, whose `onCancel` handlers the thread releases.
    var ended: CancellationState?
    /// The elements to release.
    var released: [Element] = []
  }

  private(set) var readers: [SharedReader] = []

  /// The cancellation of the present run, from before its start until it ends or is stopped.
  private var cancellationOfRun: CancellationState?

  /// The number of the newest run.
  private var run = 0

  /// Whether a thread starts and stops the source now.
  private var isControlling = false

  /// The last element that the running source has yielded.
  private var last: Element?

  // MARK: - Readers

  /// Adds a reader; with `startsWithLast` it begins with the last element.
  func add(_ reader: SharedReader, startingWithLast startsWithLast: Bool) {
    // The result is not needed: no task waits for a new reader, and `last` keeps the element if the policy drops it.
    if startsWithLast, let last { _ = reader.add(last) }
    readers.append(reader)
  }

  /// Removes a reader, if it is still there: the end of the source removes all.
  func remove(_ reader: SharedReader) {
    if let index = readers.firstIndex(where: { $0 === reader }) { readers.remove(at: index) }
  }

  // MARK: - The source

  /// Makes the caller the one thread that starts and stops the source, until `nextAction` returns `nil`.
  /// - Returns: `false` if another thread has the control; that thread then also makes the starts and stops for this caller.
  func beginControl() -> Bool {
    defer { isControlling = true }
    return !isControlling
  }

  /// Returns the start or stop that the source needs; if it needs none, ends the caller's control and returns `nil`.
  func nextAction() -> SharedSourceAction? {
    switch (cancellationOfRun, readers.isEmpty) {
    case (let cancellation?, true):
      defer { endRun() }
      return .stop(cancellation, last: last)  // the caller releases `last` after unlocking
    case (nil, false):
      let cancellation = CancellationState()
      cancellationOfRun = cancellation
      run += 1
      return .start(run: run, cancellation)
    default:  // nothing to do: a running source has readers, and a stopped one has none
      isControlling = false
      return nil
    }
  }

  private func endRun() { (cancellationOfRun, last) = (nil, nil) }  // no later reader starts with the old `last`

  // MARK: - Events

  /// Gives an event to all readers.
  ///
  /// O(number of readers).
  /// - Returns: The follow-up; `nil` if the run of the event has ended, whether a newer run has begun or not.
  func accept(_ event: SharedStreamEvent, run: Int) -> Delivery? {
    guard cancellationOfRun != nil, run == self.run else { return nil }
    var delivery = Delivery()
    if let last { delivery.released.append(last) }  // both cases below replace or clear `last`
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
        delivery.waiters += reader.finish(error)
      }
      readers = []
      endRun()
    }
    return delivery
  }
}
