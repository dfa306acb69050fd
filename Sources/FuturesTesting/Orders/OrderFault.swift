public import Futures

/// A way in which code outside can break its promise to call a completion handler once.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public enum OrderFault: String, Sendable, Hashable, CaseIterable {
  /// The completion handler is kept, and never called.
  case never
  /// The completion handler is released without a call.
  case dropped
  /// The completion handler is called at once, and again at any later point.
  case twice
  /// The completion handler is called after the timers that are set now, for example after a timeout.
  case late
  /// The completion handler is called at any later point, on no context that the code knows.
  case elsewhere
  /// The completion handler is called with the failure.
  case failure
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Orders {
  /// Returns a completion handler that calls `completion` in one order as it should, and in other orders with a fault.
  ///
  /// Pass it to the code under test in the place of the real one, in the double of an API:
  ///
  /// ```
  /// let load: @Sendable (@escaping @Sendable (Result<Int, any Error>) -> Void) -> Void = { completion in
  ///   let answer = orders.fault("answer", failure: .failure(Offline()), completion)
  ///   network.submit { answer(.success(1)) }
  /// }
  /// ```
  ///
  /// The search chooses a fault, or none, when the returned closure is called. The order names the choice, for example
  /// `answer: twice`.
  /// - Parameters:
  ///   - name: The name in the order.
  ///   - faults: The faults to choose from.
  ///   - failure: The argument for `OrderFault.failure`; without it, the search does not choose that fault.
  ///   - completion: The completion handler of the code under test, also a handler of `Promise` or `Callback`.
  /// - Returns: The completion handler.
  public func fault<Value: Sendable>(
    _ name: String,
    _ faults: [OrderFault] = OrderFault.allCases,
    failure: Value? = nil,
    _ completion: @escaping @Sendable (Value) -> Void
  ) -> @Sendable (Value) -> Void {
    let faults = faults.filter { $0 != .failure || failure != nil }
    let handler = Locked<(@Sendable (Value) -> Void)?>(completion)
    return { [run] value in
      guard let completion = handler.withLock({ $0.take() }) else { return }
      switch run.choose("\(name)", [nil] + faults) {
      case nil: completion(value)
      case .never: run.keep(completion)
      case .dropped: break
      case .twice:
        completion(value)
        run.submitLater("\(name) again") { completion(value) }
      case .late: run.submitLate("\(name) late") { completion(value) }
      case .elsewhere: run.submitLater("\(name) elsewhere") { completion(value) }
      case .failure: completion(failure ?? value)
      }
    }
  }

  /// Returns a future that resolves in one order as `future` does, and in other orders with a fault.
  ///
  /// A future resolves once, so the search does not choose `OrderFault.twice`.
  /// - Parameters:
  ///   - name: The name in the order.
  ///   - faults: The faults to choose from.
  ///   - error: The error of `OrderFault.failure`; without it, the search does not choose that fault.
  ///   - future: The future of the API.
  /// - Returns: The future for the code under test. Cancelling it cancels `future`.
  public func fault<Value>(
    _ name: String,
    _ faults: [OrderFault] = OrderFault.allCases,
    failure error: (any Error)? = nil,
    in future: Future<Value, any Error>
  ) -> Future<Value, any Error> {
    let promise = Promise<Value, any Error>("\(name)")
    promise.onCancel { future.cancel() }
    let failure = error.map { Result<Value, any Error>.failure($0) }
    future.whenResolved(
      on: .immediate,
      fault(name, faults.filter { $0 != .twice }, failure: failure) { promise.resolve($0) }
    )
    return promise.future
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Chooses one of the faults, as a decision within the present move; `nil` stands for no fault.
  fileprivate func choose(_ name: String, _ faults: [OrderFault?]) -> OrderFault? {
    watch?.watch.stopIfBlocked()
    let moves = faults.map { fault in
      OrderMove(source: names.source(fault.map { "\(name): \($0.rawValue)" } ?? "\(name): once"), ordinal: 1)
    }
    return faults[choose(moves)]
  }

  /// Keeps an object until the run ends.
  fileprivate func keep(_ object: Any) {
    nonisolated(unsafe) let object = object  // only released
    state.withLock { if !$0.isOver { $0.kept.append(object) } }
  }

  fileprivate func submitLater(_ name: String, _ work: @escaping @Sendable () -> Void) {
    let source = names.source(name)
    let _: Void? = submit("has called “\(name)”.") { $0.submit(work, named: source) }
  }

  fileprivate func submitLate(_ name: String, _ work: @escaping @Sendable () -> Void) {
    let source = names.source(name)
    let _: Int? = submit("has called “\(name)”.") { agenda in
      agenda.submit(work, to: agenda.context(OrderNames.clock), after: .seconds(86_400), named: source)
    }
  }
}
