#if os(Linux) && compiler(>=6.3)
  @_spi(ExperimentalScheduling) internal import _Concurrency

  // `Task.sleep` in virtual time: the runtime passes the sleep to the executor of the sleeping task. On Apple platforms
  // the protocol comes with the 26.4 releases, without an interface to compile against.
  extension OrderRun: SchedulingExecutor {
    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      at instant: C.Instant,
      tolerance: C.Duration?,
      clock: C
    ) {
      // `ContinuousClock` stands still during a move. For another clock, part of the delay has passed already.
      let left = clock.now.duration(to: instant) as? Duration ?? .zero
      sleep(UnownedJob(job), clock is ContinuousClock ? left : left.roundedUpToMilliseconds)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      after delay: C.Duration,
      tolerance: C.Duration?,
      clock: C
    ) {
      sleep(UnownedJob(job), delay as? Duration ?? .zero)
    }

    private func sleep(_ job: UnownedJob, _ delay: Duration) {
      let delay = max(delay, .zero)
      let source = names.source("sleep \(delay.inSeconds)")
      let isAdded: Void? = submit("has put a task of the test to sleep.") {
        $0.submit(job, after: delay, named: source)
      }
      if isAdded == nil { passOn(job) }
    }
  }
#endif
