import Futures
import TestSupport
import Testing

struct ProgressHandlerTests {
  @Test("Each handler reports its arguments; a total below zero is unknown")
  func reports() {
    let calls: [(String, Double, (ProgressReporter) -> Void)] = [
      ("3 of 10", 0.3, { $0.unitCountHandler(3, 10) }),
      ("3 of ?", 0, { $0.unitCountHandler(3, -1) }),
      ("3 of 10", 0.3, { $0.countHandler(3, 10) }),
      ("3 of ?", 0, { $0.countHandler(3, -1) }),
      ("500000 of 1000000", 0.5, { $0.fractionHandler(0.5) }),
      ("500000 of 1000000", 0.5, { $0.floatFractionHandler(0.5) }),
      ("3 of 10", 0.3, { $0.report(completed: Int(3), of: 10) }),
      ("3 of ?", 0, { $0.report(completed: Int(3), of: nil) }),
    ]
    for (units, fraction, report) in calls {
      let promise = Promise<Int, Never>()
      report(promise.progress)
      #expect(promise.future.currentProgress.units == units)
      #expect(promise.future.currentProgress.fractionCompleted == fraction)
      promise.succeed(1)
    }
  }

  @Test("R4: keeping a handler does not keep the promise")
  func doesNotKeepThePromise() {
    var promise: Promise<Int, BrokenPromise>? = Promise("work")
    let future = promise?.future
    let handler = promise?.progress.fractionHandler
    promise = nil
    handler?(0.5)
    #expect(future?.isResolved == true)
  }
}
