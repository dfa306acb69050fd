// Runs in a module whose default isolation is the main actor. There a closure such as
// `{ progress.report(completed: $0, of: $1) }` is isolated to the main actor, and traps when the radar calls it. The
// ready-made handlers do not trap.
import Foundation
import Futures
import FuturesFoundation
import LegacyRadar

func scans(_ radar: Radar) -> [Future<Int, any Error>] {
  [
    Future { promise in radar.scan(progress: promise.progress.countHandler, done: promise.valueOrErrorHandler) },
    Future { promise in radar.scan(bytes: promise.progress.unitCountHandler, done: promise.valueOrErrorHandler) },
    Future { promise in radar.scan(fraction: promise.progress.fractionHandler, done: promise.valueOrErrorHandler) },
    Future { promise in radar.scan(float: promise.progress.floatFractionHandler, done: promise.valueOrErrorHandler) },
    Future { promise in radar.scan(foundation: promise.progress.foundationHandler, done: promise.valueOrErrorHandler) },
  ]
}

@main enum ProgressClient {
  static func main() throws {
    for (index, future) in scans(Radar()).enumerated() {
      // Each radar reports one half before its result, and a failed wait ends the client with an error.
      let value = try future.wait().get()
      print("scan \(index): \(value), \(future.currentProgress.fractionCompleted)")
    }
  }
}
