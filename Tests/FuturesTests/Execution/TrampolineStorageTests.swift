import AllocationCounter
import Foundation
import Futures
import TestSupport
import Testing

/// Runs `body` on new threads, one after another, and waits for their thread-specific destructors.
private func runOnThreads(_ count: Int, _ body: @convention(c) () -> Void) {
  for _ in 0..<count {
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let argument = unsafeBitCast(body, to: UnsafeMutableRawPointer.self)
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
      unsafeBitCast(argument, to: (@convention(c) () -> Void).self)()
      return nil
    }
    let status = pthread_create(&thread, nil, start, argument)
    precondition(status == 0, "No thread was created: error \(status).")
    #if canImport(Darwin)
      pthread_join(thread!, nil)
    #else
      pthread_join(thread, nil)
    #endif
  }
}

/// Uses the calling thread's trampoline.
private func useTrampoline() {
  Future<Int, any Error>.succeeded(1).whenResolved(on: .immediate) { _ in }
}

/// Nests deliveries until two of them wait in the trampoline's queue, which allocates memory.
private func nestDeliveries(_ depth: Int = 0) {
  Future<Int, any Error>.succeeded(1).whenResolved(on: .immediate) { _ in
    if depth < 20 { nestDeliveries(depth + 1) }
    useTrampoline()
  }
}

/// Returns the number of allocations of `body` on this thread.
private func allocations(of body: () -> Void) -> Int64 {
  let before = AllocationCounts.ofThread().allocations
  body()
  return AllocationCounts.ofThread().allocations - before
}

/// A key whose destructor uses the library in its second round, after the trampoline of the thread was freed.
private let lateKey: pthread_key_t = {
  var key = pthread_key_t()
  let status = pthread_key_create(&key) { (round: UnsafeMutableRawPointer?) in
    if round == firstRound { return _ = pthread_setspecific(lateKey, secondRound) }
    let first = allocations(of: useTrampoline)
    let second = allocations(of: useTrampoline)
    lateAllocations.withLock { $0.append(first - second) }
  }
  precondition(status == 0, "There is no thread-specific key left.")
  return key
}()

private var firstRound: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }
private var secondRound: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 2) }

private var isThreadSanitized: Bool {
  #if TSAN
    true
  #else
    false
  #endif
}

/// The numbers of blocks that the first use in each second round allocated for a new trampoline.
private let lateAllocations = Locked<[Int64]>([])

// The tests run in separate processes: the blocks of all threads count, and other tests allocate too.
@Suite(.enabled(if: AllocationCounts.areSupported))
struct TrampolineStorageTests {
  @Test("A thread that used the library frees the trampoline, and the memory of its queues, when it ends")
  func storageIsFreed() async {
    await #expect(processExitsWith: .success) {
      runOnThreads(10) { nestDeliveries() }
      let before = AllocationCounts.ofProcess().liveBlocks
      runOnThreads(100) { nestDeliveries() }
      #expect(AllocationCounts.ofProcess().liveBlocks - before < 50)
    }
  }

  // ThreadSanitizer has a destructor of its own, with which the process of this test fails.
  @Test(
    "A thread-specific destructor that uses the library later gets a new trampoline, which is freed too",
    .disabled(if: isThreadSanitized)
  )
  func storageIsMadeAgain() async {
    await #expect(processExitsWith: .success) {
      let body: @convention(c) () -> Void = {
        useTrampoline()
        pthread_setspecific(lateKey, firstRound)
      }
      runOnThreads(10, body)
      #expect(lateAllocations.withLock(\.self) == Array(repeating: 1, count: 10))
      lateAllocations.withLock { $0.removeAll(keepingCapacity: true) }
      let before = AllocationCounts.ofProcess().liveBlocks
      runOnThreads(100, body)
      #expect(AllocationCounts.ofProcess().liveBlocks - before < 50)
    }
  }
}
