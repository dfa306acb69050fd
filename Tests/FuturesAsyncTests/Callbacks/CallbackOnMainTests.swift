internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct CallbackOnMainTests {
  private let log = Recorder<String>()
  private let main = HeldContext()

  /// Listens to an API of the main actor, from any isolation.
  private func places(_ kind: StreamKind, on context: MainContext = .main) -> StreamKind.Stream {
    kind.make(on: context) { [log] stream in
      log.record("start")
      for place in 1...3 { stream.yield(place) }
      stream.onCancel(on: .main) {
        MainActor.assertIsolated()
        log.record("stop")
        withExtendedLifetime(stream) {}  // an API keeps the handle until it is stopped
      }
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
        callback.onCancelOnMain {
          MainActor.assertIsolated()
          stopped.succeed()
          withExtendedLifetime(callback) {}  // an API keeps the callback until it is stopped
        }
      }
    }
    task.cancel()
    await stopped.future.value
    #expect(await task.value == "cancelled")
  }
}
