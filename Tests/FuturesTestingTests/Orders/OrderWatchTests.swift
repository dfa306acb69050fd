#if DEBUG
  import Dispatch
  import Futures
  import Testing

  @testable import FuturesTesting

  @Suite("The bounds in real time of exploreOrders")
  struct OrderWatchTests {
    @Test("A move that waits counts after ten seconds, and a move that runs after a minute")
    func seconds() {
      func count(_ moves: (Int) -> Int?, ticks: (Int) -> Int64) -> (second: Int, stall: MoveSeconds.Stall)? {
        var seconds = MoveSeconds()
        for second in 0...200 {
          if let stall = seconds.count(moves(second), ticks: ticks(second)) { return (second, stall) }
        }
        return nil
      }
      let waits = count { _ in
        1
      } ticks: { _ in
        7
      }
      #expect(waits?.second == 10 && waits?.stall == .waits)
      let runs = count { _ in
        1
      } ticks: { _ in
        -1
      }
      #expect(runs?.second == 60 && runs?.stall == .runs)
      // Its thread sleeps at each look, and has worked since the one before.
      let works = count { _ in
        1
      } ticks: {
        Int64($0)
      }
      #expect(works?.second == 60 && works?.stall == .runs)
      #expect(
        count {
          $0
        } ticks: { _ in
          7
        } == nil
      )
      #expect(
        count {
          $0 % 9 == 0 ? nil : 1
        } ticks: { _ in
          7
        } == nil
      )
    }

    @Test("Outside work that always submits more work holds up no run", .unlessSanitized)
    func endlessOutsideWork() {
      _ = (OrderRun.controlsUnstructuredTasks, OrderRun.controlsMain, OrderRun.observesOutside)
      let patience = OutsidePatience(milliseconds: 10)
      let run = OrderRun(
        names: OrderNames(),
        isOnMain: false,
        listsPendingFutures: false,
        waitsForOthers: false,
        outsidePatience: patience
      )
      let isOver = Shared(false)
      @Sendable func next() {
        DispatchQueue.global().async { if !isOver.withLock(\.self) { next() } }
      }
      let verdict = run.perform { _ in
        next()
      } choosing: { _, _ in
        0
      }
      isOver.withLock { $0 = true }
      guard case .returned = verdict else {
        Issue.record("\(verdict)")
        return
      }
      #expect(!patience.allowsWait())
    }
  }
#endif
