/// An API that has become async. `generate --style callbacks` writes its callback functions.
public struct Answers: Sendable {
  public enum Wrong: Error { case number }

  public init() {}

  public func number(_ number: Int) async throws -> Int {
    guard number > 0 else { throw Wrong.number }
    return number
  }

  public func typed(_ number: Int) async throws(Wrong) -> String {
    guard number > 0 else { throw .number }
    return "\(number)"
  }

  public func save() async throws {}
  public func count() async -> Int? { nil }
  public func ping() async {}
  public func elsewhere() async -> Int { 1 }
  public func same<Value: Sendable>(_ value: Value) async throws -> Value { value }
  public static func shared() async -> (first: Int, second: Int) { (1, 2) }
  public func lent(_ body: (Int) -> Void) async { body(1) }
}

public actor Desk {
  public init() {}
  public func next() async -> Int { 1 }
}

@MainActor public final class Board {
  public init() {}
  public func title() async throws -> String { "title" }
}
