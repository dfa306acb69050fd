/// Answers before it returns.
public enum Answer: Sendable, CaseIterable {
  case value, failure

  /// No callback, or neither a value nor an error.
  case nothing

  /// A value, and then others.
  case twice
}

/// Why a reading fails.
public enum ReadingError: Error {
  case unreadable
}

/// A value that is not `Sendable`.
public final class Reading {
  public let number: Int
  init(_ number: Int) { self.number = number }
}

/// Functions whose callback does not escape.
public struct Reader {
  let answer: Answer
  public private(set) var count = 0
  public init(_ answer: Answer) { self.answer = answer }

  private func give(_ value: (Int) -> Void, _ failure: (ReadingError) -> Void) {
    switch answer {
    case .value: value(1)
    case .failure: failure(.unreadable)
    case .nothing: break
    case .twice:
      value(1)
      value(2)
      failure(.unreadable)
    }
  }

  /// Reads a number.
  public func number(_ body: (Result<Int, any Error>) -> Void) {
    give({ body(.success($0)) }, { body(.failure($0)) })
  }

  public func typed(completion: (Result<Int, ReadingError>) -> Void) {
    give({ completion(.success($0)) }, { completion(.failure($0)) })
  }

  public func generic<Value>(_ value: Value, completion: (_ value: Value?, _ error: (any Error)?) -> Void) {
    if answer == .nothing { completion(nil, nil) }
    give({ _ in completion(value, nil) }, { completion(nil, $0) })
  }

  public func pair(completion: (_ number: Int?, _ name: String?, (any Error)?) -> Void) {
    give({ completion($0, "\($0)", nil) }, { completion(1, "1", $0) })
  }

  public func parted(success: (Reading) -> Void, failure: (any Error) -> Void) {
    give({ success(Reading($0)) }, { failure($0) })
  }

  public func maybe(completion: (Int?) -> Void) { give({ completion($0 == 1 ? nil : $0) }, { _ in }) }

  public func save(done: ((any Error)?) -> Void) throws {
    if answer == .nothing { throw ReadingError.unreadable }
    give({ _ in done(nil) }, { done($0) })
  }

  public mutating func increase(_ total: inout Int, by step: () -> Int, completion: (Int) -> Void) {
    count += step()
    total += count
    completion(count)
  }

  public func tuple(completion: ((Int?, (any Error)?)) -> Void) {
    give({ completion(($0, nil)) }, { completion((nil, $0)) })
  }

  public func cases(completion: (Reply) -> Void) { give({ completion(.done($0)) }, { completion(.failed($0)) }) }

  public static func zero(completion: () -> Void) { completion() }

  public enum Reply: Sendable {
    case done(Int)
    case failed(any Error)
  }

  // Refused.
  public func open(_ body: (Result<Reading, any Error>) -> Void) { body(.success(Reading(1))) }
  public func lines(_ body: (Result<Int, any Error>) -> Void) { body(.success(1)) }
  public func bytes(completion: (UnsafeRawBufferPointer) -> Void) {}
  public func there(completion: (Int) -> Void) { completion(1) }
  public func there() -> String { "" }
  public func sendable(completion: @Sendable (Int) -> Void) { completion(1) }
  public func each(_ body: (Int) -> Void) { body(1) }
}

/// Isolated, and Sendable only there.
public actor Register {
  public init() {}
  public func sample(completion: (Result<Reading, any Error>) -> Void) { completion(.success(Reading(3))) }
}

/// On the main actor.
@MainActor
public final class Board {
  public init() {}
  public func sample(completion: @MainActor (Reading) -> Void) { completion(Reading(4)) }
}

/// A requirement, and its witness.
public protocol Reads {
  func value(completion: (Int) -> Void)
}

extension Reader: Reads {
  public func value(completion: (Int) -> Void) { give(completion, { _ in }) }
}
