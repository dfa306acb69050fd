import Dispatch
import Futures
import FuturesTesting

/// The token, the contexts and the counters that all futures of one graph use.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Surroundings: Sendable {
  let token = CancellationTokenSource()
  let sites: [Site]
  private let manual = ManualContext()
  private let late = LateContext()

  /// Counts the futures without a result.
  let unresolved = DispatchGroup()

  /// Counts the closures and values that have not been released.
  let alive = DispatchGroup()

  init() {
    sites = Site.common + [late.site, Site(name: "a manual context", context: manual.context)]
  }

  var manualContext: ExecutionContext { manual.context }

  /// Moves the virtual time, and runs the work of the manual context.
  func advance(by duration: Duration) { manual.advance(by: duration) }

  /// The time after which a graph is reported as hanging.
  private static let limit = DispatchTimeInterval.seconds(60)

  /// Runs the work and timers of the manual context, and the work that the late context keeps, until `group` is empty.
  /// - Returns: Whether it became empty in time.
  func settle(_ group: DispatchGroup) -> Bool {
    let end = DispatchTime.now() + Self.limit
    repeat {
      manual.advance(by: .seconds(10))
      late.flush()
      if group.wait(timeout: .now() + .milliseconds(1)) == .success { return true }
    } while .now() < end
    return false
  }
}
