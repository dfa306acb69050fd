// module Promises
// The shape of Google's Promises 2.4, for the examples.

public import Dispatch

public final class Promise<Value> {
  public init(
    on queue: DispatchQueue = .main, _ work: @escaping (@escaping (Value) -> Void, @escaping (any Error) -> Void) throws -> Void
  ) {}
  @discardableResult public func then(on queue: DispatchQueue = .main, _ work: @escaping (Value) throws -> Void) -> Promise { self }
  @discardableResult public func `catch`(on queue: DispatchQueue = .main, _ reject: @escaping (any Error) -> Void) -> Promise { self }
}
