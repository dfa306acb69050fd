internal import Foundation

/// Reserves a folder for one run of the tool: an interrupted run can still be ending when the next one begins.
final class FolderLock {
  private let descriptor: Int32

  /// Locks a folder until the lock is released, or the process ends.
  /// - Parameters:
  ///   - folder: The folder, which exists.
  ///   - waiting: Called once before the lock waits for another run.
  /// - Throws: An error if the folder cannot be locked.
  init(_ folder: URL, waiting: () -> Void) throws {
    descriptor = open(folder.appending(path: "lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
    waiting()
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CocoaError(.fileLocking) }
    }
  }

  deinit { close(descriptor) }
}
