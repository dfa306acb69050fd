import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of pausing, which passes from a future's progress to the progresses that its producers follow.
struct FutureFoundationProgressPausingTests {
  /// A future that follows a progress that can be paused.
  struct Work {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 2)

    init() {
      progress.isPausable = true
      promise.progress.follow(progress)
    }
  }

  @Test("The progress is pausable while the followed progress is, and passes pause and resume on to it")
  func direct() {
    let work = Work()
    let progress = work.promise.future.foundationProgress()
    #expect(progress.isPausable)
    work.progress.isPausable = false
    #expect(!progress.isPausable)
    progress.pause()
    #expect(progress.isPaused)
    #expect(work.progress.isPaused)
    progress.resume()
    #expect(!work.progress.isPaused)
    work.promise.succeed(1)
    #expect(!progress.isPausable)
    progress.pause()
    #expect(!work.progress.isPaused)
  }

  @Test("Pausing and resuming pass from a parent through derived futures to all their inputs")
  func derived() {
    typealias Made = Future<Int, any Error>
    let makers: [(String, ([Made]) -> Made)] = [
      ("map", { $0[0].map { $0 } }),
      ("flatMap", { $0[0].flatMap { _ in .succeeded(1) } }),
      ("the second of flatMap", { works in Made.succeeded(1).flatMap { _ in works[0] } }),
      ("shielded", { $0[0].shielded }),
      ("all", { Future.all($0).map { $0[0] } }),
      ("race", { Future.race($0) }),
      ("twice", { Future.zip($0[0].map { $0 }, $0[0].recover { _ in 1 }.setFailureType()).map { $0.0 } }),
    ]
    for (name, make) in makers {
      let works = [Work(), Work()]
      let future = make(works.map(\.promise.future))
      let (progress, parent) = (future.foundationProgress(), Progress(totalUnitCount: 1))
      parent.addChild(progress, withPendingUnitCount: 1)
      let expected = name == "all" || name == "race" ? [true, true] : [true, false]
      #expect(progress.isPausable, "\(name)")
      parent.pause()
      #expect(works.map(\.progress.isPaused) == expected, "\(name)")
      parent.resume()
      #expect(works.map(\.progress.isPaused) == [false, false], "\(name)")
    }
  }

  @Test("Pausing reaches a promise's parts and the current future of flatMap, but not its ended source")
  func partsAndStages() {
    let (whole, part) = (Promise<Int, any Error>(), Work())
    whole.progress.add(part.promise.future, share: 0.5)
    let progress = whole.future.foundationProgress()
    progress.pause()
    #expect(part.progress.isPaused)

    let (first, second) = (Work(), Work())
    let stages = first.promise.future.flatMap { _ in second.promise.future }.foundationProgress()
    first.promise.succeed(1)
    stages.pause()
    #expect(!first.progress.isPaused)
    #expect(second.progress.isPaused)
    withExtendedLifetime(whole) {}
  }

  @Test("Without a followed progress, the progress is not pausable, and pausing only sets its own state")
  func nothingFollowed() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.map { $0 }.foundationProgress()
    #expect(!progress.isPausable)
    progress.pause()
    #expect(progress.isPaused)
    progress.isPausable = true
    #expect(progress.isPausable)
    promise.succeed(1)
    #expect(progress.isFinished)
  }

  @Test("A future that follows its own progress still works")
  func circle() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    promise.progress.follow(progress)
    progress.pause()
    #expect(progress.isPaused)
    progress.resume()
    promise.progress.report(completed: 1, of: 2)
    #expect(progress.counts == [1, 2])
    progress.cancel()
    #expect(promise.future.failsAsCancelled)
  }

  @Test("R6: pausing takes no stack in a long chain, and visits a future once, even if many paths lead to it")
  func longChain() {
    onThread {
      let work = Work()
      var (chain, net) = (work.promise.future, work.promise.future)
      for _ in 0..<10_000 { chain = chain.map { $0 } }
      for _ in 0..<40 { net = Future.all([net, net]).map { $0[0] } }
      for future in [chain, net] {
        let progress = future.foundationProgress()
        progress.pause()
        #expect(work.progress.isPaused)
        progress.resume()
        #expect(!work.progress.isPaused)
      }
      work.promise.succeed(1)
      #expect(chain.isResolved && net.isResolved)
    }
  }
}
