import Dispatch
import Foundation

/// Calls `handler` on a background queue when Ctrl-C is pressed, until the source that it returns is cancelled.
///
/// A second Ctrl-C ends the process at once, in case the handler takes too long.
func onInterrupt(_ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
  signal(SIGINT, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
  source.setEventHandler {
    signal(SIGINT, SIG_DFL)
    handler()
  }
  source.resume()
  return source
}
