// No compiler before 6.4 has `withTaskCancellationShield`. With a stub of that function, these tests compile with 6.3.
#if compiler(>=6.4)
  internal import Futures
  internal import FuturesAsync
  internal import Testing

  @Suite(.timeLimit(.minutes(20)))
  struct AwaitShieldTests {
    @available(macOS 27, iOS 27, tvOS 27, watchOS 27, visionOS 27, *)
    @Test("R22: a cancellation before or during a shielded await does not end it", arguments: [true, false])
    func shieldedAwaitContinues(isBefore: Bool) async throws {
      let promise = Promise<Int, any Error>()
      let task = Task.immediate {
        if isBefore { cancelCurrentTask() }
        return try await withTaskCancellationShield { try await promise.future.value(onCancel: .cancel) }
      }
      task.cancel()
      #expect(promise.succeed(1))
      #expect(try await task.value == 1)
    }

    @available(macOS 27, iOS 27, tvOS 27, watchOS 27, visionOS 27, *)
    @Test("R22b: in a cancelled task, a shielded `withCallback` calls its body")
    func shieldedCallback() async throws {
      let task = Task.immediate {
        cancelCurrentTask()
        return try await withTaskCancellationShield {
          try await withCallback(of: Int.self) { callback in callback.resume(returning: 1) }
        }
      }
      #expect(try await task.value == 1)
    }
  }
#endif
