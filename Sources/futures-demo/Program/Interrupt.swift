import Dispatch
import Foundation

/// Calls `handler` on a background queue, with SIGINT (Ctrl-C) or SIGTERM.
///
/// A second signal of the same kind ends the process at once, in case the handler is slow.
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
