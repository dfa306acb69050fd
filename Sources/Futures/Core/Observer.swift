/// A user's callback, with the results that it takes; or, in the state of a promise, an input of a join.
///
/// Q: Why an enumeration? A: A closure that unwraps the result and calls the user's closure would be one more allocation.
@frozen
@usableFromInline
enum Callback<Value: Sendable, Failure: Error>: Sendable {
  case resolved(@Sendable (Result<Value, Failure>) -> Void)
  case succeeded(@Sendable (Value) -> Void)
  case failed(@Sendable (Failure) -> Void)
  /// Passes the result to a join.
  case input(Consumer.Delivery)

  /// Calls the closure with `result`, if the closure takes that kind of result: any, only a value or only a failure.
  @_alwaysEmitIntoClient
  @inline(__always)
  consuming func callAsFunction(_ result: Result<Value, Failure>) {
    switch consume self {
    case .resolved(let callback): callback(result)
    case .succeeded(let callback): if case .success(let value) = result { callback(value) }
    case .failed(let callback): if case .failure(let error) = result { callback(error) }
    case .input: break  // `deliver(to:from:in:)` alone calls the closure of a join
    }
  }

  /// Calls the closure with the result of `source`; if `source` is broken, reports that a callback waited, and calls nothing.
  ///
  /// A join gets any delivery, also that of a source without a result.
  @_alwaysEmitIntoClient
  @inline(__always)
  consuming func deliver(to consumer: Consumer, from source: FutureState, in trampoline: Trampoline) {
    if case .input(let deliver) = self {
      deliver(consumer, source, trampoline)
    } else if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
      self(result)
    } else {
      source.reportWaitForBrokenPromise()
    }
  }
}

/// Moves the value out of a variable, and leaves `nil`.
///
/// A copy of the value would count a reference to the closure in it. Not for a value that is itself a closure: a generic function
/// reads a closure through a thunk, which is an allocation.
@_alwaysEmitIntoClient
@inline(__always)
func takeValue<Value>(at variable: inout Value?) -> Value? {
  withUnsafeMutablePointer(to: &variable) { variable in
    let value = variable.move()
    variable.initialize(to: nil)
    return value
  }
}

/// A user's callback in the list of a future's consumers.
@_fixed_layout
@usableFromInline
class Observer<Value: Sendable, Failure: Error>: Consumer, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// Taken by the thread that moves `status` to `finished`, so that it is released at once (R5).
  @exclusivity(unchecked) @usableFromInline final var callback: Callback<Value, Failure>?

  @inlinable
  init(kind: Kind, _ callback: __owned Callback<Value, Failure>, deliver: @escaping Delivery) {
    self.callback = consume callback
    super.init(kind: kind, deliver: deliver)
  }

  /// Makes an observer that runs inline.
  @inlinable
  convenience init(_ callback: __owned Callback<Value, Failure>) {
    self.init(kind: .inline, consume callback) { consumer, source, trampoline in
      takeValue(at: &unsafeDowncast(consumer, to: Observer.self).callback)?
        .deliver(to: consumer, from: source, in: trampoline)
    }
  }

  override func dropCaptures() {
    callback = nil
  }
}
