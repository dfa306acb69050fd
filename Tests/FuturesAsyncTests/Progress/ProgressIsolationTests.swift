internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// A future that a thread without a task advances, step by step, each time its reader is suspended.
private final class Elsewhere: Sendable {
  let promise = Promise<Int, any Error>()
  var future: Future<Int, any Error> { promise.future }

  private let steps: Locked<[@Sendable (Promise<Int, any Error>) -> Void]>

  /// Prepares two reports and the end, which `ending` performs.
  init(_ ending: @escaping @Sendable (Promise<Int, any Error>) -> Void) {
    let steps: [@Sendable (Promise<Int, any Error>) -> Void] = [
      { $0.progress.report(fraction: 0.25) }, { $0.progress.report(completed: 5, of: 10) }, ending,
    ]
    self.steps = Locked(steps)
  }

  /// Performs the next step as soon as the caller is suspended.
  ///
  /// No timing: it is a job of the actor, so it cannot start before the caller gives the actor up.
  func goOn(from actor: isolated any Actor) {
    Task {
      _ = actor
      let next = steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let next { DispatchQueue.global().async { next(self.promise) } }
    }
  }

  /// Performs all remaining steps, on a thread without a task.
  func goOnToTheEnd(from actor: isolated any Actor) {
    Task {
      _ = actor
      DispatchQueue.global().async {
        for step in self.steps.withLock({ $0 }) { step(self.promise) }
      }
    }
  }
}

@Suite("R25: the actor of a loop over a progress", .timeLimit(.minutes(20)))
struct ProgressIsolationTests {
  typealias Reading = @Sendable (isolated any Actor, Future<Int, any Error>, (isolated any Actor) -> Void) async -> Bool

  private static let endings: [@Sendable (Promise<Int, any Error>) -> Void] = [
    { $0.succeed(1) }, { $0.fail(TestError(1)) }, { $0.future.cancel() },
  ]

  /// Lets `reading` read a future in every way that it can end, and checks that it stays on its actor.
  ///
  /// `reading` calls its last argument after each element, before it asks for the next one. The first element is
  /// available at once.
  func check(
    _ home: Home,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ reading: @escaping Reading
  ) async {
    let actor = home.make()
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1))] {
      let isHome = await run(on: actor) { actor in await reading(actor, future) { _ in } }
      #expect(isHome, "resolved", sourceLocation: sourceLocation)
    }
    for (number, ending) in Self.endings.enumerated() {
      let elsewhere = Elsewhere(ending)
      let isHome = await run(on: actor) { actor in
        await reading(actor, elsewhere.future) { elsewhere.goOn(from: $0) }
      }
      #expect(isHome, "ending \(number)", sourceLocation: sourceLocation)
    }
    // Cancelled while it is suspended, by a thread without a task.
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let isHome = await run(on: actor) { actor in
      await reading(actor, future) { _ in }
    } then: { task in
      task.cancel()
    }
    #expect(isHome, "cancelled", sourceLocation: sourceLocation)
    #expect(!promise.isResolved, sourceLocation: sourceLocation)
  }

  @Test("R25: a loop over the progress, and the code after it, run on its actor", arguments: Home.allCases)
  func progressLoopStaysOnActor(home: Home) async {
    await check(home) { actor, future, prepare in
      var isHome = true
      var count = 0
      for await _ in future.progress {
        isHome = isHome && isReallyOn(actor)
        prepare(actor)
        count += 1
      }
      return isHome && isReallyOn(actor) && count > 0
    }
  }

  @Test("R25: a loop over the events, and the code after it, run on its actor", arguments: Home.allCases)
  func eventLoopStaysOnActor(home: Home) async {
    await check(home) { actor, future, prepare in
      var isHome = true
      var results = 0
      for await event in future.events {
        isHome = isHome && isReallyOn(actor)
        switch event {
        case .progress: prepare(actor)
        case .resolved: results += 1
        }
      }
      return isHome && isReallyOn(actor) && results == (Task.isCancelled ? 0 : 1)
    }
  }

  @Test("R25: `next(isolation:)` and `next()` return to the actor", arguments: Home.allCases)
  func nextReturnsToActor(home: Home) async {
    await check(home) { actor, future, prepare in
      var isHome = true
      var reader = future.progress.makeAsyncIterator()
      while await reader.next(isolation: actor) != nil {
        isHome = isHome && isReallyOn(actor)
        prepare(actor)
      }
      return isHome && isReallyOn(actor)
    }
    await check(home) { actor, future, prepare in
      var isHome = true
      var reader = future.progress.makeAsyncIterator()
      while await reader.next() != nil {
        isHome = isHome && isReallyOn(actor)
        prepare(actor)
      }
      return isHome && isReallyOn(actor)
    }
  }

  @Test("R25: two loops, one in the other, are on the actor", arguments: Home.allCases)
  func nestedLoopsStayOnActor(home: Home) async {
    await check(home) { actor, future, prepare in
      var isHome = true
      for await _ in future.map({ $0 }).progress {
        isHome = isHome && isReallyOn(actor)
        for await progress in future.progress {
          isHome = isHome && isReallyOn(actor)
          if progress.fractionCompleted > 0.3 { break }
          prepare(actor)
        }
        prepare(actor)
        isHome = isHome && isReallyOn(actor)
      }
      return isHome && isReallyOn(actor)
    }
  }

  @Test("R25: the present state is read without leaving the actor")
  func presentStateIsReadWithoutHop() async {
    let actor = ThreadActor()
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let jobs = await run(on: actor) { _ in
      let before = actor.executor.jobCount
      var reader = future.progress.makeAsyncIterator()
      var events = future.events.makeAsyncIterator()
      for number in 1...9 {
        promise.progress.report(fraction: Double(number) / 10)
        #expect(await reader.next(isolation: #isolation)?.fractionCompleted == Double(number) / 10, "report \(number)")
        _ = await events.next(isolation: #isolation)
      }
      promise.succeed(1)
      for await _ in future.progress {}
      for await _ in future.events {}
      for await _ in Future.succeeded(1).events {}
      while await reader.next(isolation: #isolation) != nil {}
      while await events.next(isolation: #isolation) != nil {}
      return actor.executor.jobCount - before
    }
    #expect(jobs == 0)
  }

  // MARK: - With the operations of the standard library

  /// Like `check`, for operations that read to the end without the test's help.
  func checkOperation(
    _ home: Home,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ reading: @escaping @Sendable (isolated any Actor, ProgressUpdates) async -> Bool
  ) async {
    let actor = home.make()
    #expect(
      await run(on: actor) { actor in await reading(actor, Future.succeeded(1).progress) },
      sourceLocation: sourceLocation
    )
    let elsewhere = Elsewhere { $0.succeed(1) }
    let isHome = await run(on: actor) { actor in
      elsewhere.goOnToTheEnd(from: actor)
      return await reading(actor, elsewhere.future.progress)
    }
    #expect(isHome, sourceLocation: sourceLocation)
  }

  @Test(
    "R25: loops over `map`, `filter`, `compactMap` and other lazy operations stay on the actor",
    arguments: Home.allCases
  )
  func lazyOperations(home: Home) async {
    await checkOperation(home) { actor, updates in
      var isHome = true
      var last = 0.0
      for await fraction in updates.map(\.fractionCompleted) {
        isHome = isHome && isReallyOn(actor) && fraction >= last
        last = fraction
      }
      return isHome && isReallyOn(actor) && last == 1
    }
    await checkOperation(home) { actor, updates in
      var last = 0
      for await percent in updates.filter({ $0.fractionCompleted > 0.5 }).compactMap({ Int($0.fractionCompleted * 100) }
      ) {
        guard isReallyOn(actor) else { return false }
        last = percent
      }
      return isReallyOn(actor) && last == 100
    }
    await checkOperation(home) { actor, updates in
      var count = 0
      for await _ in updates.prefix(1) {
        guard isReallyOn(actor) else { return false }
        count += 1
      }
      for await _ in updates.prefix(while: { !$0.isFinished }) where !isReallyOn(actor) { return false }
      for await _ in updates.dropFirst() where !isReallyOn(actor) { return false }
      for await progress in updates.drop(while: { !$0.isFinished }) where !isReallyOn(actor) || !progress.isFinished {
        return false
      }
      for await _ in updates.flatMap({ _ in updates }) where !isReallyOn(actor) { return false }
      return isReallyOn(actor) && count == 1
    }
  }

  @Test("R25: `first`, `contains`, `reduce` and other eager operations return to the actor", arguments: Home.allCases)
  func eagerOperations(home: Home) async {
    await checkOperation(home) { actor, updates in
      guard await updates.first(where: { $0.isFinished })?.fractionCompleted == 1, isReallyOn(actor) else {
        return false
      }
      guard await updates.first(where: { $0.fractionCompleted > 1 }) == nil, isReallyOn(actor) else { return false }
      guard await updates.contains(where: { $0.isFinished }), isReallyOn(actor) else { return false }
      guard await updates.allSatisfy({ $0.fractionCompleted <= 1 }), isReallyOn(actor) else { return false }
      let sum = await updates.reduce(0) { $0 + $1.fractionCompleted }
      guard sum >= 1, isReallyOn(actor) else { return false }
      let last = await updates.reduce(into: 0.0) { $0 = $1.fractionCompleted }
      guard last == 1, isReallyOn(actor) else { return false }
      let greatest = await updates.max { $0.fractionCompleted < $1.fractionCompleted }
      return greatest?.isFinished == true && isReallyOn(actor)
    }
  }

  // MARK: - As users write it

  @MainActor
  private final class Screen {
    var fractions: [Double] = []
    var result: Result<Int, any Error>?

    func show(_ future: Future<Int, any Error>, _ prepare: () -> Void) async {
      for await progress in future.progress {
        fractions.append(progress.fractionCompleted)
        prepare()
      }
      for await event in future.events {
        if case .resolved(let result) = event { self.result = result }
      }
    }
  }

  @MainActor
  @Test("R25: a main actor object is changed inside the loop")
  func mainActorObject() async throws {
    let elsewhere = Elsewhere { $0.succeed(7) }
    let screen = Screen()
    await screen.show(elsewhere.future) { elsewhere.goOn(from: MainActor.shared) }
    #expect(isReallyOn(MainActor.shared))
    #expect(screen.fractions == [0, 0.25, 0.5, 1])
    #expect(try screen.result?.get() == 7)
  }

  private actor Log {
    private var fractions: [Double] = []

    func follow(_ elsewhere: Elsewhere) async -> [Double] {
      for await progress in elsewhere.future.progress {
        preconditionIsolated()
        fractions.append(progress.fractionCompleted)
        elsewhere.goOn(from: self)
      }
      preconditionIsolated()
      return fractions
    }
  }

  @Test("R25: an actor's state is changed inside the loop of its method")
  func actorMethod() async {
    #expect(await Log().follow(Elsewhere { $0.succeed(7) }) == [0, 0.25, 0.5, 1])
  }

  @Test("R25: a function that begins with a read is on its actor after it, also in an optimised build")
  func functionThatBeginsWithReadIsOnItsActor() async {
    let promise = Promise<Int, any Error>()
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1)), promise.future] {
      #expect(await Entry.next(future.progress.makeAsyncIterator()), "\(String(describing: future.peek()))")
      #expect(await Entry.isolatedNext(future.progress.makeAsyncIterator()), "\(String(describing: future.peek()))")
      #expect(await Entry.loop(future.progress), "\(String(describing: future.peek()))")
      #expect(await Entry.events(future.events), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().loop(future.progress), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().events(future.events), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().next(future.progress.makeAsyncIterator()), "\(String(describing: future.peek()))")
    }
    withExtendedLifetime(promise) {}
  }
}

/// Main actor functions that begin with a read, and return whether they are on the main actor after it.
@MainActor
private enum Entry {
  @inline(never)
  static func next(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    _ = await reader.next()
    return isOnMainQueue
  }

  @inline(never)
  static func isolatedNext(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    _ = await reader.next(isolation: #isolation)
    return isOnMainQueue
  }

  @inline(never)
  static func loop(_ updates: ProgressUpdates) async -> Bool {
    for await _ in updates { return isOnMainQueue }
    return false
  }

  @inline(never)
  static func events(_ events: FutureEvents<Int, any Error>) async -> Bool {
    for await _ in events { return isOnMainQueue }
    return false
  }
}

extension ThreadActor {
  @inline(never)
  fileprivate func loop(_ updates: ProgressUpdates) async -> Bool {
    for await _ in updates { return executor.isCurrent }
    return false
  }

  @inline(never)
  fileprivate func events(_ events: FutureEvents<Int, any Error>) async -> Bool {
    for await _ in events { return executor.isCurrent }
    return false
  }

  @inline(never)
  fileprivate func next(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    _ = await reader.next(isolation: self)
    return executor.isCurrent
  }
}
