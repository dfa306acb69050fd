import Dispatch
import Foundation

/// Calls `handler` with the signal, on a background queue, on Ctrl-C (SIGINT) and on SIGTERM.
///
/// A second signal of the same kind ends the process at once, in case the handler takes too long.
/// - Returns: The sources. Cancel them to stop listening.
func onInterrupt(_ handler: @escaping @Sendable (Int32) -> Void) -> [any DispatchSourceSignal] {
  [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
      signal(number, SIG_DFL)
      handler(number)
    }
    source.resume()
    return source
  }
}
