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

  public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
    work.result(()) { result in
      let database = Database()
      value(result.map { database }.mapError { $0 as any Error })
      database.close()
    }
  }

  public func read(completion: @escaping (Database) -> Void) { lend(completion) }

  public func inDatabase(completion: @escaping (Database?, (any Error)?) -> Void) { lend { completion($0, nil) } }

  /// Opens the database. Do not store it.
  public func open(completion: @escaping (Database) -> Void) { lend(completion) }

  public func transact(completion: @escaping (Database, Result<Int, any Error>) -> Void) {
    lend { completion($0, .success(1)) }
  }

  public func bytes(completion: @escaping (UnsafeRawBufferPointer) -> Void) {
    work.run { _ in withUnsafeBytes(of: 1, completion) }
  }

  /// Runs the updates once, and lends the database for them.
  public func asyncWriteWithoutTransaction(_ updates: @escaping (Database) -> Void) { lend(updates) }

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
