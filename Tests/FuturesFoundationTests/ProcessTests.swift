import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
  @Suite("Process, with real programs", .unlessLookingForLeaks, .timeLimit(.minutes(20)))
  struct ProcessTests {
    /// Runs a script of the shell.
    private func shell(
      _ script: String,
      environment: [String: String]? = nil,
      input: Data? = nil
    ) -> Future<ProcessOutput, any Error> {
      Process.future(
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: ["-c", script],
        environment: environment,
        input: input
      )
    }

    @Test("Both outputs, the exit code and its kind arrive", arguments: [0, 1, 77])
    func outputs(code: Int32) async throws {
      let output = try await shell("printf out; printf err >&2; exit \(code)").value
      #expect(output.standardOutput == Data("out".utf8))
      #expect(output.standardError == Data("err".utf8))
      #expect(output.terminationStatus == code)
      #expect(output.terminationReason == .exit)
    }

    @Test("Arguments arrive as they are, and the environment is the one that was given")
    func arguments() async throws {
      let output = try await Process.future(
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: ["-c", "printf '%s|' \"$@\" \"$VARIABLE\"", "sh", "a b", "", "\"ü\"", "*"],
        environment: ["VARIABLE": "its value"]
      ).value
      #expect(String(decoding: output.standardOutput, as: UTF8.self) == "a b||\"ü\"|*|its value|")
    }

    @Test(
      "Outputs of any size arrive, both at once, while the input is read or not",
      arguments: [0, 1, 65_536, 20_000_000]
    )
    func sizes(size: Int) async throws {
      var input = Data(repeating: 1, count: size)
      if size > 0 { input[size / 2] = 2 }
      let output = try await shell("tee /dev/stderr", input: input).value
      #expect(output.standardOutput == input)
      #expect(output.standardError == input)
      let ignoring = try await shell("exit 3", input: input).value
      #expect(ignoring.terminationStatus == 3)
    }

    @Test("Without an input there is nothing to read")
    func noInput() async throws {
      #expect(try await shell("cat; printf end").value.standardOutput == Data("end".utf8))
    }

    @Test("A program that cannot be started fails with the error of Foundation", arguments: ["/no/such/file", "/tmp"])
    func notStarted(path: String) async {
      let result = await Process.future(executable: URL(fileURLWithPath: path)).result
      #expect(result.error is CocoaError)
    }

    @Test("A process that is ended by a signal says so")
    func signal() async throws {
      let output = try await shell("printf before; kill -9 $$").value
      #expect(output.terminationReason == .uncaughtSignal)
      #expect(output.terminationStatus == 9)
      #expect(output.standardOutput == Data("before".utf8))
    }

    @Test("R17: cancelling terminates a process that does nothing about it, and fails at once")
    func cancel() async throws {
      let place = try TemporaryPlace()
      _ = try await shell("mkfifo '\(place.url.path)'").value
      // The sleeping process holds the writing end until it ends.
      let future = shell("exec 3> '\(place.url.path)'; printf . >&3; exec sleep 1000")
      let isRunning = Promise<Void, Never>()
      let reading = Future<Data, any Error>(on: .newThread) {
        let file = try FileHandle(forReadingFrom: place.url)
        let first = try file.read(upToCount: 1)
        isRunning.succeed()
        return try (first ?? Data()) + (file.readToEnd() ?? Data())
      }
      await isRunning.future.value
      future.cancel()
      #expect(future.peek()?.error is CancellationError)
      #expect(try await reading.value == Data(".".utf8))
    }

    @Test("A process that opens its outputs again loses nothing")
    func reopened() async throws {
      let output = try await shell(
        "echo a; echo b > /dev/stdout; echo c; echo one > /dev/stderr; echo two > /dev/stderr"
      ).value
      #expect(String(decoding: output.standardOutput, as: UTF8.self) == "a\nb\nc\n")
      #expect(String(decoding: output.standardError, as: UTF8.self) == "one\ntwo\n")
    }

    #if os(Linux)
      @Test("Processes that ended, failed to start or were cancelled leave no descriptor and no file behind")
      func nothingLeft() async {
        // In a process of its own, where nothing else opens files.
        await #expect(processExitsWith: .success) {
          func run() async throws {
            let tests = ProcessTests()
            _ = try await tests.shell("cat", input: Data("input".utf8)).value
            _ = await Process.future(executable: URL(fileURLWithPath: "/no/such/file")).result
            let cancelled = tests.shell("exec sleep 1000")
            cancelled.cancel()
          }
          func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
          for _ in 0..<3 { try await run() }
          let before = try count()
          for _ in 0..<20 { try await run() }
          // What was cancelled may still be ending.
          #expect(try count() < before + 20)
        }
      }
    #endif

    @Test("Many processes at once have their own outputs")
    func many() async throws {
      let outputs = try await Future.concurrent(0..<100, limit: 8) { shell("printf \($0)") }.value
      #expect(outputs.map { String(decoding: $0.standardOutput, as: UTF8.self) } == (0..<100).map { "\($0)" })
    }
  }
#endif
