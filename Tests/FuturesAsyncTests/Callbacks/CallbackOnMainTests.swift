internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// An API of the main actor, as `CLLocationManager` is: not `Sendable`.
@MainActor
private final class Tracker {
  private let log: Recorder<String>
  /// The callback, which an API keeps until it is stopped.
  private var callback: (any Sendable)?

  init(_ log: Recorder<String>, _ callback: any Sendable) {
    self.log = log
    self.callback = callback
    log.record("start")
  }

  func stop() {
    callback = nil
    log.record("stop")
  }
}

@Suite(.timeLimit(.minutes(20)))
struct CallbackOnMainTests {
  private let log = Recorder<String>()
  private let main = HeldContext()

  /// Follows a tracker, from any isolation.
  private func places(_ kind: StreamKind, on context: MainContext = .main) -> StreamKind.Stream {
    kind.make(on: context) { [log] stream in
      let tracker = Tracker(log, stream)
      for place in 1...3 { stream.yield(place) }
      stream.onCancel(on: .main) { tracker.stop() }
    }
  }

  @Test(
    "A stream on `.main` starts on the main actor, and stops there when its reader leaves",
    arguments: StreamKind.allCases
  )
  func stream(kind: StreamKind) async {
    await MainContext.replace(with: main.context) { @MainActor in
      var places: StreamKind.Stream? = places(kind)
      #expect(log.events == [])
      main.runAll()
      let elements = if let places { await read(places, 3).elements } else { [Int]() }
      #expect(elements == [1, 2, 3])
      places = nil
      #expect(log.events == ["start"])
      main.runAll()
      #expect(log.events == ["start", "stop"])
    }
  }

  @Test(
    "A stream on `.main` whose reader leaves before the start does not start; a shared one starts and stops",
    arguments: StreamKind.allCases
  )
  @MainActor
  func leavesBeforeStart(kind: StreamKind) {
    MainContext.replace(with: main.context) {
      do { _ = places(kind) }
      main.runAll()
      #expect(log.events == (kind == .single ? [] : ["start", "stop"]))
    }
  }

  @Test("A stream on `.mainImmediate` starts at once on the main actor", arguments: StreamKind.allCases)
  @MainActor
  func startsAtOnce(kind: StreamKind) {
    let places = places(kind, on: .mainImmediate)
    #expect(log.events == ["start"])
    withExtendedLifetime(places) {}
  }

  @Test(
    "R22b: `withCallback` runs the main-actor handler of a cancelled task on the main actor",
    arguments: Wrapper.allCases
  )
  @MainActor
  func callback(wrapper: Wrapper) async {
    let stopped = Promise<Void, Never>()
    let task = Task.immediate {
      await wrapper.call { callback in
        let tracker = Tracker(log, callback)
        callback.onCancelOnMain {
          tracker.stop()
          stopped.succeed()
        }
      }
    }
    task.cancel()
    await stopped.future.value
    #expect(log.events == ["start", "stop"])
    #expect(await task.value == "cancelled")
  }
}
