// module NIOCore
// The shape of SwiftNIO's event loop, future and promise, for the examples.

public struct TimeAmount { public init(_ duration: Duration) {} }
public final class Scheduled: Sendable { public func cancel() {} }
public final class EventLoopFuture<Value>: @unchecked Sendable {
  public init() {}
  public func whenComplete(_ callback: @escaping @Sendable (Result<Value, any Error>) -> Void) {}
}
public struct EventLoopPromise<Value>: @unchecked Sendable {
  public let futureResult = EventLoopFuture<Value>()
  public func completeWith(_ result: Result<Value, any Error>) {}
}
public protocol EventLoop: AnyObject, Sendable {
  func execute(_ task: @escaping @Sendable () -> Void)
  @discardableResult func scheduleTask(in delay: TimeAmount, _ task: @escaping @Sendable () -> Void) -> Scheduled
  func makePromise<T>(of type: T.Type) -> EventLoopPromise<T>
}
