// module PromiseKit
// The shape of PromiseKit 8, for the examples.

public enum Result<T> { case fulfilled(T), rejected(any Error) }
public final class Resolver<T> {
  public func fulfill(_ value: T) {}
  public func reject(_ error: any Error) {}
}
public final class Promise<T> {
  public init(resolver body: (Resolver<T>) throws -> Void) {}
  public func pipe(to handler: @escaping (Result<T>) -> Void) {}
}
