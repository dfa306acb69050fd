#if canImport(Darwin)
  import Futures
#else
  import Synchronization
#endif

// The hand-rolled futures of all variants.

final class IntByHand: HandFuture {
  private let state: Mutex<HandState<Int, any Error>>

  init(_ state: HandState<Int, any Error>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<Int, any Error>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}

final class IntNeverByHand: HandFuture {
  private let state: Mutex<HandState<Int, Never>>

  init(_ state: HandState<Int, Never>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<Int, Never>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}

final class StringByHand: HandFuture {
  private let state: Mutex<HandState<String, any Error>>

  init(_ state: HandState<String, any Error>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<String, any Error>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}

final class StringNeverByHand: HandFuture {
  private let state: Mutex<HandState<String, Never>>

  init(_ state: HandState<String, Never>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<String, Never>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}

final class ObjectByHand: HandFuture {
  private let state: Mutex<HandState<SharedObject, any Error>>

  init(_ state: HandState<SharedObject, any Error>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<SharedObject, any Error>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}

final class ObjectNeverByHand: HandFuture {
  private let state: Mutex<HandState<SharedObject, Never>>

  init(_ state: HandState<SharedObject, Never>) { self.state = Mutex(state) }

  func withState<Output>(_ body: (inout HandState<SharedObject, Never>) -> Output) -> Output {
    state.withLock { body(&$0) }
  }
}
