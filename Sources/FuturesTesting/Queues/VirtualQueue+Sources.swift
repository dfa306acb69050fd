internal import CFuturesTesting
public import Dispatch
internal import Futures

extension ManualContext {
  /// Makes a stand-in for a Dispatch queue, whose work runs when the test runs the work of this context.
  ///
  /// The work of the queue and other work of this context run in one order. The queue does not keep the context alive.
  /// - Parameters:
  ///   - label: The label.
  ///   - attributes: `.concurrent` for a concurrent queue.
  /// - Returns: The queue.
  public func queue(_ label: String = "", attributes: DispatchQueue.Attributes = []) -> VirtualQueue {
    VirtualQueue(label: label, isConcurrent: attributes.contains(.concurrent), backend: queueBackend)
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Orders {
  /// Returns a stand-in for a Dispatch queue.
  ///
  /// The next item of a serial queue is one of the moves that can come next. Of a concurrent queue, each item up to a
  /// barrier is such a move. A delay is a timer. `sync` runs within the move that calls it, together with the work that
  /// it waits for.
  /// - Parameters:
  ///   - label: The name in the order. No context should share it: both would count as one. The same label is the same queue.
  ///   - attributes: `.concurrent` for a concurrent queue.
  /// - Returns: The queue. Submit to it from the run only: work from another thread is a failure.
  public func queue(_ label: String, attributes: DispatchQueue.Attributes = []) -> VirtualQueue {
    run.queue(label, isConcurrent: attributes.contains(.concurrent))
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension VirtualQueue {
  /// Makes a stand-in for a Dispatch queue, for the run of `exploreOrders` in which the caller runs.
  ///
  /// So a type alias can take the place of `DispatchQueue` in code that makes its queues itself. Traps outside a run: a manual
  /// context makes its queues by `ManualContext.queue(_:attributes:)`.
  /// - Parameters:
  ///   - label: The name in the order, which shows the second queue with a label as “label 2”.
  ///   - qos: Has no effect.
  ///   - attributes: `.concurrent` for a concurrent queue.
  public convenience init(label: String, qos: DispatchQoS = .unspecified, attributes: DispatchQueue.Attributes = []) {
    guard let run = cfuturestesting_run() else {
      preconditionFailure(
        "VirtualQueue(label: \"\(label)\") is made outside a run of exploreOrders. Make it in the body."
      )
    }
    let isConcurrent = attributes.contains(.concurrent)
    let orderRun = Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue()
    let backend = orderRun.backendOfNewQueue(label, isConcurrent: isConcurrent)
    self.init(label: label, isConcurrent: isConcurrent, backend: backend)
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Returns the queue of a label; makes it in the first call.
  fileprivate func queue(_ label: String, isConcurrent: Bool) -> VirtualQueue {
    state.withLock { state in
      if let queue = state.queues[label] { return queue }
      let queue = VirtualQueue(label: label, isConcurrent: isConcurrent, backend: backend(label, isConcurrent))
      if !state.isOver { state.queues[label] = queue }  // `queue` owns the run: only the run's end breaks the cycle
      return queue
    }
  }

  /// Returns the backend of a queue that the body makes itself; the order names the second one of a label “label 2”.
  fileprivate func backendOfNewQueue(_ label: String, isConcurrent: Bool) -> VirtualQueue.Backend {
    let name = state.withLock { state in
      state.madeQueues[label, default: 0] += 1
      return state.madeQueues[label] == 1 ? label : "\(label) \(state.madeQueues[label] ?? 0)"
    }
    return backend(name, isConcurrent)
  }

  /// Returns the backend that adds the work of a queue to the agenda of this run; the items of a *lane* keep their order.
  private func backend(_ label: String, _ isConcurrent: Bool) -> VirtualQueue.Backend {
    let source = OrderSource.context(label)
    let lane = isConcurrent ? nil : source  // `nil`: the queue keeps no order between its items
    return VirtualQueue.Backend { [self] work in
      let number = submit(outside: "has submitted work to the queue “\(label)”.") {
        $0.add(.work(work), named: source, in: lane)
      }
      return { [self] in  // for `sync` and `wait()`; returns `nil` if the run is over, or if the work has started
        guard let number, let item = state.withLock({ $0.agenda.take(number) }) else { return nil }
        if case .work(let work) = item.action { return work } else { return nil }  // never another action
      }
    } submitAfter: { [self] nanoseconds, work in
      let delay = Duration.nanoseconds(nanoseconds)
      // A concurrent queue keeps no order between a timer and other work, so its timers are in the clock's lane.
      submit(outside: "has set a timer of the queue “\(label)”.") {
        $0.add(.work(work), named: .timer(delay), in: lane ?? .clock, after: delay)
      }
    } willRunAtOnce: { [self] in
      // No explored order has other work during this call, so the report names it. As in `submit`, another thread fails the run.
      _ = noteOutsideWork(.sync, queue: label)  // adds it to the report; the result would track work until its end
      if !isOnOwnThread { state.withLock { noteInterference("has called `sync` on the queue “\(label)”.", &$0) } }
    }
  }
}
