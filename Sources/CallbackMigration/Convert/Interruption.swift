internal import Foundation

/// Ends the tool, and the programs that it runs, after the plugin has ended.
///
/// An interrupt ends `swift package` and the plugin only, because the tool and its programs have process groups of their own.
public enum Interruption {
  /// The identifiers of the programs that run; used under `lock`.
  nonisolated(unsafe) private static var programs: Set<Int32> = []

  private static let lock = NSLock()

  /// Watches the standard input, which closes when the plugin ends.
  public static func watchStandardInput() {
    Thread.detachNewThread {
      _ = try? FileHandle.standardInput.readToEnd()
      // Under the lock: no program starts, and no file changes, between the signals and the exit.
      lock.withLock {
        for program in programs { kill(program, SIGINT) }
        _exit(130)
      }
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

  /// Performs changes that must be made whole: an interrupt has its effect after them.
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
