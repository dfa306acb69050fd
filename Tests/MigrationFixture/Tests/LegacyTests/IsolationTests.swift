import Futures
import FuturesAsync
import Legacy
import Testing

// Each call is written out, because a closure around it would belong to the actor by itself, and hide a counterpart that returns
// elsewhere. `preconditionIsolated` holds in release builds too.

/// Counterparts return to the actor of their caller, however they end.
@MainActor
@Suite struct MainActorTests {
  nonisolated static let moods: [Backend.Mood] = [.answers, .answersAtOnce, .fails, .drops]

  @Test(arguments: moods) func method(_ mood: Backend.Mood) async {
    do { _ = try await Users(Backend(mood)).user(id: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { try await Users(Backend(mood)).delete(id: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Users(Backend(mood)).load(id: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Users(Backend(mood)).page(id: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test(arguments: moods) func function(_ mood: Backend.Mood) async {
    do { _ = try await fetchTime(from: Backend(mood)) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Service.connect(to: Backend(mood)) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Names(Backend(mood)).validate(typed: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Downloads(Backend(mood)).fetch("a") } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test(arguments: moods) func generic(_ mood: Backend.Mood) async {
    do { _ = try await Loader(Backend(mood)).load(User.self, from: "a") } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await UserLoading(Backend(mood)).loadItem() } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Cache(Backend(mood), [1: 1]).value(for: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test(arguments: moods) func notSendable(_ mood: Backend.Mood) async {
    let editor = Editor(Backend(mood))
    do { _ = try await editor.open("draft") } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { try await editor.save(Draft("draft")) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test(arguments: moods) func ofAnActor(_ mood: Backend.Mood) async {
    do { _ = try await Account(Backend(mood)).withdraw(1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Account(Backend(mood)).name() } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await Storage(Backend(mood)).read("key") } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test(arguments: moods) func ofTheMainActor(_ mood: Backend.Mood) async {
    let screen = Screen(Backend(mood))
    do { _ = try await screen.loadPicture(id: 1) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { _ = try await screen.describe() } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
    do { #expect(try await screen.measure() == (3, 4)) } catch { MainActor.preconditionIsolated() }
    MainActor.preconditionIsolated()
  }

  @Test func cancelled() async {
    let backend = Backend(.waits)
    let task = Task { @MainActor in
      do { _ = try await Downloads(backend).fetch("a") } catch { MainActor.preconditionIsolated() }
      MainActor.preconditionIsolated()
    }
    await backend.untilAsked()
    MainActor.preconditionIsolated()
    task.cancel()
    await task.value
    #expect(backend.cancelCount == 1)
    backend.finish()
  }

  @Test func cancelledOfAnActor() async {
    let backend = Backend(.waits)
    let task = Task { @MainActor in
      do { _ = try await Account(backend).withdraw(1) } catch { MainActor.preconditionIsolated() }
      MainActor.preconditionIsolated()
    }
    await backend.untilAsked()
    task.cancel()
    await task.value
    await backend.untilCancelled(1)
    backend.finish()
  }

  @Test func futures() async throws {
    let backend = Backend(.waits)
    let screen = Screen(backend)
    let future = screen.loadPictureFuture(id: 1)
    future.cancel()
    #expect(backend.cancelCount == 1)
    #expect(await future.result.text == "CancellationError()")
    #expect(try await Screen(Backend(.answers)).loadTitleFuture().value == "title")
    #expect(try await showAlertFuture("text", from: Backend(.answers)).value == 4)
    backend.finish()
  }
}

/// The same tests on another actor.
@StorageActor
@Suite struct StorageActorTests {
  @Test(arguments: MainActorTests.moods) func method(_ mood: Backend.Mood) async {
    do { _ = try await Users(Backend(mood)).user(id: 1) } catch { StorageActor.preconditionIsolated() }
    StorageActor.preconditionIsolated()
    do { _ = try await Screen(Backend(mood)).loadPicture(id: 1) } catch { StorageActor.preconditionIsolated() }
    StorageActor.preconditionIsolated()
    do { _ = try await Storage(Backend(mood)).read("key") } catch { StorageActor.preconditionIsolated() }
    StorageActor.preconditionIsolated()
    do { try await compact(Backend(mood)) } catch { StorageActor.preconditionIsolated() }
    StorageActor.preconditionIsolated()
  }

  @Test func cancelled() async {
    let backend = Backend(.waits)
    let task = Task { @StorageActor in
      do { try await compact(backend) } catch { StorageActor.preconditionIsolated() }
      StorageActor.preconditionIsolated()
    }
    await backend.untilAsked()
    task.cancel()
    await task.value
    #expect(backend.cancelCount == 1)
    backend.finish()
  }

  @Test func futures() async throws {
    let backend = Backend(.waits)
    let future = compactFuture(backend)
    future.cancel()
    #expect(backend.cancelCount == 1)
    #expect(try await Storage(Backend(.answers)).readFuture("key").value == "key")
    backend.finish()
  }
}
