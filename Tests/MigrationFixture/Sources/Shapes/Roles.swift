// Requirements, their witnesses, and callbacks that callers can leave out.

/// Has a counterpart for all that conform.
public protocol Loading: Sendable {
  func load(completion: @escaping (Result<Int, any Error>) -> Void)
}

/// Conforms.
public struct Disk: Loading {
  let work: Work
  public init(_ work: Work) { self.work = work }
  public func load(completion: @escaping (Result<Int, any Error>) -> Void) {
    work.result(1) { completion($0.mapError { $0 }) }
  }
}

/// Callers can leave the callback out.
public struct Settings: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func save(completion: (() -> Void)? = nil) {
    nonisolated(unsafe) let completion = completion
    work.run { _ in completion?() }
  }

  /// The package gives its counterpart another name.
  public func reset(completion: ((Result<Int, any Error>) -> Void)? = nil) {
    nonisolated(unsafe) let completion = completion
    work.result(8) { completion?($0.mapError { $0 }) }
  }
}
