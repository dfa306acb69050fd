import CFutures
import Foundation
import Futures
import TestSupport
import Testing

/// A pipe that replaces the standard error of the process.
private struct ErrorPipe: Sendable {
  /// The number of bytes to write: many times the capacity of the pipe.
  static let size = 1 << 20

  let readingEnd: Int32

  init() {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO, "No pipe was made: error \(errno).")
    close(ends[1])
    readingEnd = ends[0]
  }

  func write() {
    let bytes = [UInt8](repeating: 1, count: Self.size)
    bytes.withUnsafeBytes { cfutures_write_to_standard_error($0.baseAddress, $0.count) }
    close(STDERR_FILENO)
  }

  /// Reads until the writing end is closed, and returns the number of bytes.
  func readAll() -> Int {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var sum = 0
    while case let count = read(readingEnd, &buffer, buffer.count), count != 0 {
      if count > 0 { sum += count }
    }
    return sum
  }
}

/// An atomic number, which a signal handler can use: a lock would wait for the interrupted thread.
///
/// Relaxed: nothing else depends on the number.
private struct SignalSafeNumber: @unchecked Sendable {
  // @unchecked: each access is atomic.
  private let place = UnsafeMutablePointer<UInt>.allocate(capacity: 1)

  init() { place.initialize(to: 0) }

  var value: UInt { cfutures_load_word(place, 0) }

  func increment() { _ = cfutures_subtract_word(place, .max, 0) }  // `.max` is minus one, modulo the size of a word
}

/// The number of handled signals.
private let handledSignals = SignalSafeNumber()

/// Whether the writer has ended; a correct writer does not end before its pipe has a reader.
private let writerHasEnded = Locked(false)

// The tests run in separate processes: each has its own standard error.
@Suite(.timeLimit(.minutes(20)))
struct StandardErrorTests {
  @Test("A full pipe that does not block the writer receives all bytes")
  func nonBlockingPipe() async {
    await #expect(processExitsWith: .success) {
      let pipe = ErrorPipe()
      precondition(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) == 0)
      startThread { pipe.write() }
      #expect(pipe.readAll() == ErrorPipe.size)
    }
  }

  @Test("A writer that signals interrupt writes all bytes")
  func interruptedWriter() async {
    await #expect(processExitsWith: .success) {
      signal(SIGUSR1) { _ in handledSignals.increment() }
      var action = sigaction()
      sigaction(SIGUSR1, nil, &action)
      action.sa_flags &= ~SA_RESTART  // a signal ends a waiting `write`
      sigaction(SIGUSR1, &action, nil)
      let pipe = ErrorPipe()
      let writer = Locked<pthread_t?>(nil)
      startThread {
        // A thread that a worker thread of Dispatch starts has blocked these signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        writer.withLock { $0 = pthread_self() }
        pipe.write()
        writerHasEnded.withLock { $0 = true }
      }
      // A correct writer still waits: the pipe takes a part of the bytes, and has no reader.
      for number: UInt in 0..<100 where !writerHasEnded.withLock(\.self) {
        while writer.withLock({ $0.map { pthread_kill($0, SIGUSR1) } }) == nil { sched_yield() }
        while handledSignals.value == number {
          guard !writerHasEnded.withLock(\.self) else { break }
          sched_yield()
        }
      }
      #expect(pipe.readAll() == ErrorPipe.size)
    }
  }

  @Test("Writing to a closed standard error, and writing no bytes, does not end the process")
  func closedStandardError() async {
    await #expect(processExitsWith: .success) {
      cfutures_write_to_standard_error(nil, 0)
      close(STDERR_FILENO)
      cfutures_write_to_standard_error("lost", 4)
    }
  }
}
