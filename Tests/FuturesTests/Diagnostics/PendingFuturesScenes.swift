internal import AllocationCounter
internal import Dispatch
internal import Futures
internal import TestSupport
internal import Testing

/// The pending futures with this beginning of their label.
private func stuck(_ label: String) -> [String] {
  FuturesDiagnostics.pendingFutures.filter { $0.hasPrefix("\"\(label)") }
}

enum PendingFuturesScenes {
  static func list() {
    let label = "diagnosed pending"
    let untracked = Promise<Int, any Error>(label + " untracked")
    FuturesDiagnostics.tracksPendingFutures = true
    #expect(FuturesDiagnostics.tracksPendingFutures)
    let (first, line) = (Promise<Int, any Error>(label + " 1"), #line)
    let second = Promise<String, Never>(label + " 2")
    first.future.whenResolved(on: .immediate) { _ in }
    let mapped = first.future.map { $0 + 1 }
    mapped.whenResolved(on: .immediate) { _ in }
    let lines = stuck(label)
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\"\(label) 1\" \(#fileID):\(line), pending for ") == true)
    #expect(lines.first?.hasSuffix(", 2 consumers") == true)
    #expect(lines.last?.hasPrefix("\"\(label) 2\"") == true)
    #expect(lines.last?.hasSuffix(", 0 consumers") == true)
    first.succeed(1)
    #expect(stuck(label).count == 1)
    second.future.whenResolved(on: .immediate) { _ in }
    #expect(stuck(label).first?.hasSuffix(", 1 consumer") == true)
    let impatient = second.future.map { $0 }
    impatient.cancel()  // its failure type is `Never`, so it stays pending
    #expect(stuck(label).first?.hasSuffix(", 2 consumers") == true)
    second.succeed("")
    #expect(stuck(label).isEmpty)
    untracked.succeed(1)
  }

  static func ends() {
    let label = "diagnosed ending"
    let following = Promise<Int, any Error>(label)
    following.follow(.never)
    #expect(stuck(label).count == 1)
    following.future.cancel()
    #expect(stuck(label).isEmpty)
    let cancelled = Promise<Int, any Error>(label)
    cancelled.future.cancel()
    var broken: Promise<Int, Never>? = Promise(label)
    let future = broken?.future
    _ = future
    #expect(stuck(label).count == 1)
    broken = nil
    #expect(stuck(label).isEmpty)
    let kept = Promise<Int, any Error>(label)
    #expect(stuck(label).count == 1)
    FuturesDiagnostics.tracksPendingFutures = true
    #expect(stuck(label).count == 1)
    FuturesDiagnostics.tracksPendingFutures = false
    #expect(FuturesDiagnostics.pendingFutures.isEmpty)
    withExtendedLifetime((kept, future)) {}
  }

  static func tableShrinks() {
    let before = AllocationCounts.ofThread()
    do {
      let promises = (0..<5_000).map { _ in Promise<Int, any Error>() }
      for promise in promises { promise.succeed(1) }
    }
    for _ in 0..<10_000 { Promise<Int, any Error>().succeed(1) }
    // The table keeps the memory of an ended future until the next sweep.
    var most: Int64 = 0
    for _ in 0..<10_000 {
      Promise<Int, any Error>().succeed(1)
      most = max(most, AllocationCounts.ofThread().liveBlocks - before.liveBlocks)
    }
    #expect(most < 1_000)
    // Room for 5,000 entries would take more.
    #expect(AllocationCounts.ofThread().liveBytes - before.liveBytes < 200_000)
  }

  static func droppedContext() {
    let future = Future<Int, any Error>.succeeded(1).map(on: HeldContext().context) { $0 }
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
  }

  static func releasedObjects() {
    let objects = { PendingFutures.shared.objects(since: nil, ofThread: nil) ?? [] }
    var awaited: Promise<Int, Never>? = Promise("awaited")
    let waiter = Promise<Int, Never>("waiter")
    PendingFutures.shared.add(.await, waiter, source: awaited?.future.state)
    #expect(objects().count == 3)
    #expect(objects().last?.source === objects().first?.object)
    awaited?.succeed(1)
    awaited = nil
    #expect(objects().map { $0.entry.kind } == [.promise, .await])
    #expect(objects().last?.source == nil)
    withExtendedLifetime(waiter) {}
    waiter.succeed(1)
  }

  static func awaitedFutures() {
    let earlier = Promise<Int, any Error>("earlier", fileID: "A.swift", line: 1)
    let start = DispatchTime.now()
    let awaited = Promise<Int, any Error>("awaited", fileID: "A.swift", line: 2)
    let idle = Promise<Int, any Error>("idle", fileID: "A.swift", line: 3)
    for promise in [earlier, awaited] { promise.future.whenResolved(on: .immediate) { _ in } }
    #expect(PendingFutures.shared.awaited(since: start, ofThisThread: true) == ["\"awaited\" A.swift:2"])
    onThread {
      #expect(PendingFutures.shared.awaited(since: start, ofThisThread: true) == [])
      #expect(PendingFutures.shared.awaited(since: start, ofThisThread: false) == ["\"awaited\" A.swift:2"])
    }
    withExtendedLifetime((earlier, awaited, idle)) {}
  }

  static func tracksOneThread() {
    for onlyThisThread in [true, false] {
      PendingFutures.shared.track(onlyThisThread: onlyThisThread) {
        let (start, promise) = (DispatchTime.now(), Promise<Int, any Error>(fileID: "A.swift", line: 1))
        promise.future.whenResolved(on: .immediate) { _ in }
        onThread {
          let promise = Promise<Int, any Error>(fileID: "A.swift", line: 2)
          promise.future.whenResolved(on: .immediate) { _ in }
          let awaited = PendingFutures.shared.awaited(since: start, ofThisThread: false)
          #expect(awaited == (onlyThisThread ? ["A.swift:1"] : ["A.swift:1", "A.swift:2"]))
          promise.succeed(1)
        }
        #expect(!FuturesDiagnostics.tracksPendingFutures)
        #expect(FuturesDiagnostics.pendingFutures.isEmpty)
        FuturesDiagnostics.tracksPendingFutures = true
        FuturesDiagnostics.tracksPendingFutures = false
        #expect(PendingFutures.shared.awaited(since: start, ofThisThread: true) == ["A.swift:1"])
        promise.succeed(1)
      }
    }
  }
}
