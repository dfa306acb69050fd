// Counterparts import what the file of their function imports.
import Foundation

// Values that are valid inside their callback only, beside values that outlive it.

/// Valid while its pool lends it.
public final class Database {
  public private(set) var isOpen = true
  func close() { isOpen = false }
}

/// Lends a database.
public struct Pool: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func read(completion: @escaping (Database) -> Void) { lend(completion) }

  /// Reads a value that is its caller's.
  public func readCount(completion: @escaping (Result<Int, any Error>) -> Void) {
    work.result(7) { completion($0.mapError { $0 }) }
  }

  private func lend(_ body: @escaping (Database) -> Void) {
    work.run { _ in
      let database = Database()
      body(database)
      database.close()
    }
  }
}
