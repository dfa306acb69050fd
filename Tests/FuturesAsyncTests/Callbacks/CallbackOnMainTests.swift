internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// An API of the main actor, as `CLLocationManager` is: not `Sendable`, and with a weak delegate.
@MainActor
private final class Tracker {
  weak var delegate: Delegate?
  private(set) var isStopped = false
  /// The callback, which an API keeps until it calls it.
  var callback: AnyObject?
  private let log: Recorder<String>

  init(_ log: Recorder<String>) { self.log = log }

  func start() {
    log.record("start")
    for place in 1...3 { delegate?.onPlace(place) }
  }

  func stop() {
    isStopped = true
    log.record("stop")
  }
}

@MainActor
private final class Delegate {
  let onPlace: (Int) -> Void

  init(_ onPlace: @escaping (Int) -> Void) { self.onPlace = onPlace }
}

@Suite("Callbacks of the main actor", .timeLimit(.minutes(20)))
struct CallbackOnMainTests {
  private let log = Recorder<String>()

  /// Follows a tracker, from any isolation.
  private func places(
    on context: MainContext = .main,
    stopped: Promise<Void, Never> = Promise()
  ) -> AsyncThrowingStream<Int, any Error> {
    callbackStream(of: Int.self, on: context) { [log] stream in
      let tracker = Tracker(log)
      let delegate = Delegate { stream.yield($0) }
      tracker.delegate = delegate
      tracker.start()
      stream.onCancel(on: .main) {
        tracker.stop()
        _ = delegate
        stopped.succeed()
      }
    }
  }

  @Test("callbackStream on `.main` starts on the main actor, and stops there when its reader leaves")
  func stream() async throws {
    let stopped = Promise<Void, Never>()
    do {
      var places = places(stopped: stopped).makeAsyncIterator()
      for place in 1...3 { #expect(try await places.next() == place) }
    }
    await stopped.future.value
    #expect(log.events == ["start", "stop"])
  }

  @Test("A reader that leaves before the start keeps callbackStream on `.main` from starting")
  @MainActor
  func neverStarts() async throws {
    do { _ = places() }
    // The main queue runs its work in order.
    await Future<Void, Never>(on: .main) {}.value
    #expect(log.events.isEmpty)
  }

  @Test("callbackStream on `.mainImmediate` starts at once on the main actor")
  @MainActor
  func startsAtOnce() {
    let places = places(on: .mainImmediate)
    #expect(log.events == ["start"])
    withExtendedLifetime(places) {}
  }

  @Test(
    "R22b: `withCallback` runs the main-actor handler of a cancelled task on the main actor",
    arguments: [false, true]
  )
  @MainActor
  func callback(isTyped: Bool) async {
    let (started, stopped, log) = (Promise<Void, Never>(), Promise<Void, Never>(), log)
    let task = Task {
      let tracker = Tracker(log)
      if isTyped {
        _ = try await withCallback(
          throwing: TestError.self,
          cancelled: TestError(1),
          dropped: TestError(2),
          of: Int.self
        ) { callback in
          tracker.callback = callback
          callback.onCancel(on: .main) {
            tracker.stop()
            stopped.succeed()
          }
          started.succeed()
        }
      } else {
        _ = try await withCallback(of: Int.self) { callback in
          tracker.callback = callback
          callback.onCancel(on: .main) {
            tracker.stop()
            stopped.succeed()
          }
          started.succeed()
        }
      }
    }
    await started.future.value
    task.cancel()
    await stopped.future.value
    #expect(log.events == ["stop"])
  }
}
