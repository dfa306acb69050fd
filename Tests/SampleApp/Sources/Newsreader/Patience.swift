/// Work that can start several times.
typealias Work<Value> = @Sendable (@escaping Completion<Value>) -> any Cancellable

/// Stops `work` when it takes longer than `limit`.
func withTimeout<Value: Sendable>(
  _ limit: Duration,
  on scheduler: any Scheduler,
  _ work: Work<Value>,
  completion: @escaping Completion<Value>
) -> any Cancellable {
  let once = Once(completion)
  let parts = CancelBag()
  let timer = scheduler.after(limit) {
    once(.failure(NewsError.timedOut))
    parts.cancel()
  }
  parts.add(timer)
  let running = work { result in
    timer.cancel()
    once(result)
  }
  parts.add(running)
  return parts
}

/// Starts `work` again after each temporary error; the pause doubles each time.
func withRetries<Value: Sendable>(
  attempts: Int,
  pause: Duration,
  on scheduler: any Scheduler,
  _ work: @escaping Work<Value>,
  completion: @escaping Completion<Value>
) -> any Cancellable {
  let once = Once(completion)
  let parts = CancelBag()
  parts.add(CancelAction { once(.failure(NewsError.cancelled)) })

  @Sendable func attempt(_ number: Int, _ pause: Duration) {
    let running = work { result in
      guard case .failure(let error) = result, mayPass(error), number < attempts else { return once(result) }
      parts.add(scheduler.after(pause) { attempt(number + 1, pause * 2) })
    }
    parts.add(running)
  }

  attempt(1, pause)
  return parts
}

/// The first success; the slower attempts are stopped.
func firstSuccess<Value: Sendable>(_ works: [Work<Value>], completion: @escaping Completion<Value>) -> any Cancellable {
  let once = Once(completion)
  let parts = CancelBag()
  let failures = Counter()
  for work in works {
    let running = work { result in
      if case .failure = result, failures.next() < works.count { return }
      once(result)
      parts.cancel()
    }
    parts.add(running)
  }
  return parts
}

func mayPass(_ error: any Error) -> Bool {
  switch error as? NewsError {
  case .status(500...), .timedOut: true
  default: false
  }
}
