internal import Dispatch
internal import Foundation

/// Ends the programs that the tool has started, if the tool is interrupted.
///
/// An interrupt of a terminal does not reach these programs, because they have process groups of their own.
public enum InterruptSignal {
  /// The identifiers of the programs that run; used under `lock`.
  nonisolated(unsafe) private static var programs: Set<Int32> = []

  /// Recursive: changes in `prevented` can run programs, and `run` takes the lock again.
  private static let lock = NSRecursiveLock()

  /// Watches the standard input, which closes when the plugin ends.
  ///
  /// The plugin's tool has a process group of its own, so an interrupt does not reach it.
  public static func watchStandardInput() {
    Thread.detachNewThread {
      FileHandle.standardInput.waitForEnd()
      end()
    }
  }

  /// Watches the signals that end a program.
  public static func watchSignals() {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      // The source has to live until the end of the tool.
      source.setEventHandler { withExtendedLifetime(source) { end() } }
      source.resume()
    }
  }

  private static func end() {
    // Under the lock: no program starts, and no file changes, between the signals and the exit.
    lock.withLock {
      for program in programs { kill(program, SIGINT) }
      _exit(130)
    }
  }

  /// Runs a program until its end.
  static func run<Result>(_ program: Process, _ readOutput: () -> Result) throws -> Result {
    try lock.withLock {
      try program.run()
      programs.insert(program.processIdentifier)
    }
    let result = readOutput()
    program.waitUntilExit()
    lock.withLock { _ = programs.remove(program.processIdentifier) }
    return result
  }

  /// Performs changes that stay whole: an interrupt ends the tool after them.
  static func prevented<Failure: Error>(during changes: () throws(Failure) -> Void) throws(Failure) {
    let interrupt = signal(SIGINT, SIG_IGN)
    let termination = signal(SIGTERM, SIG_IGN)
    defer {
      signal(SIGINT, interrupt)
      signal(SIGTERM, termination)
    }
    lock.lock()
    defer { lock.unlock() }
    try changes()
  }
}
