/// A person with an account.
public struct User: Sendable, Hashable, Identifiable {
  public let id: Int
  public var name: String

  public init(id: Int, name: String = "Ada") {
    self.id = id
    self.name = name
  }
}

/// A picture, in bytes.
public struct Picture: Sendable, Hashable {
  public let bytes: [UInt8]
  public init(_ bytes: [UInt8] = [1, 2, 3]) { self.bytes = bytes }
}

/// A value that one thread at a time can use.
public final class Draft {
  public var text: String
  public init(_ text: String) { self.text = text }
}

/// The reason why a user could not sign in.
public enum SignInError: Error, Hashable {
  case wrongPassword, offline
}

/// A team's own result, which is none of Swift's.
public enum Outcome<Value> {
  case found(Value), missing
}
