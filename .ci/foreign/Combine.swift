// module Combine
// The shape of Combine's publishers, for the examples.

public final class AnyCancellable { public func cancel() {} }
public enum Subscribers { public enum Completion<Failure: Error> { case finished, failure(Failure) } }
public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void, receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable
  func first() -> Self
}
