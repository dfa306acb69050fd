import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import FuturesTesting
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

    @Test("Arguments arrive unchanged, and the environment is the given one")
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

    @Test("Without an input, the process reads an empty standard input")
    func noInput() async throws {
      #expect(try await shell("cat; printf end").value.standardOutput == Data("end".utf8))
    }

    @Test("A program that cannot be started fails with the error of Foundation", arguments: ["/no/such/file", "/tmp"])
    func notStarted(path: String) async {
      let result = await Process.future(executable: URL(fileURLWithPath: path)).result
      #expect(result.error is CocoaError)
    }

    @Test(
      "The library refuses a start for which Foundation would trap in this process",
      arguments: [URL(string: "/bin/ls")!, URL(string: "https://example.org/bin/ls")!]
    )
    func noFileURL(executable: URL) async {
      let result = await Process.future(executable: executable).result
      #expect(result.error as? ProcessStartError == .executableIsNotAFile(executable))
    }

    @Test("The library refuses a NUL in the path, an argument, and a name and a value of the environment")
    func nul() async {
      let program = URL(fileURLWithPath: "/bin/ls")
      let path = URL(fileURLWithPath: "/bin/ls\0x")
      let refused: [(Future<ProcessOutput, any Error>, String)] = [
        (Process.future(executable: path), path.absoluteString),
        (Process.future(executable: program, arguments: ["/", "a\0b"]), "a\0b"),
        (Process.future(executable: program, environment: ["A": "1", "B\0": "2"]), "B\0"),
        (Process.future(executable: program, environment: ["A": "1", "B": "\0"]), "\0"),
      ]
      for (future, text) in refused {
        #expect(await future.result.error as? ProcessStartError == .containsNUL(text))
      }
    }

    @Test("The error of a refused start says what to do")
    func refusals() {
      let table: [(error: ProcessStartError, description: String)] = [
        (
          .executableIsNotAFile(URL(string: "https://example.org/ls")!),
          "The executable \"https://example.org/ls\" is not a file URL. Use URL(fileURLWithPath:)."
        ),
        (.containsNUL("a\0b"), "The system would cut \"a\\0b\" at its NUL. Remove the NUL."),
        (
          .tooManyOpenFiles,
          "There are too many open files to start a process. Close some, or raise the limit (ulimit -n)."
        ),
      ]
      for (error, description) in table {
        #expect("\(error)" == description)
        #expect(error.localizedDescription == description)
      }
    }

    @Test("The output of a process that a signal ended contains that signal")
    func signal() async throws {
      let output = try await shell("printf before; kill -9 $$").value
      #expect(output.terminationReason == .uncaughtSignal)
      #expect(output.terminationStatus == 9)
      #expect(output.standardOutput == Data("before".utf8))
    }

    @Test("R17: cancelling terminates a process that does not handle signals, and fails at once")
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

    @Test("R17: cancelling ends a stopped process")
    func cancelStopped() async throws {
      let place = try TemporaryPlace()
      _ = try await shell("mkfifo '\(place.url.path)'").value
      // The shell's child stops the shell. Then it reports that.
      // No time passes, so SIGKILL never comes.
      let timer = ManualContext()
      defer { withExtendedLifetime(timer) {} }
      let future = Process.future(
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: ["-c", "exec 3> '\(place.url.path)'; (kill -STOP $$; printf . >&3) & wait; exec sleep 1000"],
        timer: timer.context
      )
      let isStopped = Promise<Void, Never>()
      let reading = Future<Data, any Error>(on: .newThread) {
        let file = try FileHandle(forReadingFrom: place.url)
        let first = try file.read(upToCount: 1)
        isStopped.succeed()
        return try (first ?? Data()) + (file.readToEnd() ?? Data())
      }
      await isStopped.future.value
      future.cancel()
      // The shell holds the writing end until it ends.
      #expect(try await reading.value == Data(".".utf8))
    }

    @Test("R17: cancelling kills a process that ignores SIGTERM, with its group, after a time")
    func cancelIgnoring() async throws {
      let place = try TemporaryPlace()
      let (events, questions) = (place.url, place.url.appendingPathExtension("questions"))
      _ = try await shell("mkfifo '\(events.path)' '\(questions.path)'").value
      let timer = ManualContext()
      // The child ignores the signal too, and answers a question after it.
      let future = Process.future(
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: [
          "-c",
          """
          trap '' TERM; exec 3> '\(events.path)'; printf . >&3
          (read line < '\(questions.path)'; printf . >&3; exec sleep 1000) & exec sleep 1000
          """,
        ],
        timer: timer.context
      )
      let (isRunning, isIgnoring) = (Promise<Void, Never>(), Promise<Void, Never>())
      let reading = Future<Data, any Error>(on: .newThread) {
        let file = try FileHandle(forReadingFrom: events)
        let first = try file.read(upToCount: 1)
        isRunning.succeed()
        let second = try file.read(upToCount: 1)
        isIgnoring.succeed()
        return try (first ?? Data()) + (second ?? Data()) + (file.readToEnd() ?? Data())
      }
      await isRunning.future.value
      future.cancel()
      #expect(future.peek()?.error is CancellationError)
      _ = try await Future<Void, any Error>(on: .newThread) {
        try FileHandle(forWritingTo: questions).write(contentsOf: Data("\n".utf8))
      }.value
      await isIgnoring.future.value
      timer.advance(by: .nanoseconds(Process.timeToEnd))
      // Both processes hold the writing end until they end.
      #expect(try await reading.value == Data("..".utf8))
    }

    @Test("R17: cancelling closes the outputs, so a process that ignores SIGTERM cannot continue to write")
    func cancelClosesOutputs() async throws {
      let place = try TemporaryPlace()
      let (events, start) = (place.url, place.url.appendingPathExtension("start"))
      _ = try await shell("mkfifo '\(events.path)' '\(start.path)'").value
      let future = shell(
        """
        trap '' TERM; exec 3> '\(events.path)'; printf . >&3; read line < '\(start.path)'
        head -c 10000000 /dev/zero; printf $? >&3
        """
      )
      let isRunning = Promise<Void, Never>()
      let reading = Future<Data, any Error>(on: .newThread) {
        let file = try FileHandle(forReadingFrom: events)
        let first = try file.read(upToCount: 1)
        isRunning.succeed()
        return try (first ?? Data()) + (file.readToEnd() ?? Data())
      }
      await isRunning.future.value
      future.cancel()
      _ = try await Future<Void, any Error>(on: .newThread) {
        try FileHandle(forWritingTo: start).write(contentsOf: Data("\n".utf8))
      }.value
      // The last byte is 0 if `head` could write all bytes.
      #expect(try await reading.value != Data(".0".utf8))
    }

    @Test("A process that opens its outputs again loses no output")
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
        // Runs in a process of its own, where nothing else opens files.
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
          // The cancelled process can still be ending.
          #expect(try count() < before + 20)
        }
      }

      @Test("R17: cancelled processes leave no thread and no descriptor behind, even if they started other processes")
      func nothingLeftOfCancelled() async {
        // Runs in a separate process, where nothing else opens files or starts threads.
        await #expect(processExitsWith: .success) {
          let place = try TemporaryPlace()
          let path = place.url.path
          _ = try await ProcessTests().shell("mkfifo '\(path)'").value
          // Open for writing too, so that opening and reading never find the end.
          let starts = try FileHandle(forUpdating: place.url)
          func startAndCancel(_ count: Int) async throws {
            // The shell starts another process, which has the same outputs.
            let futures = (0..<count).map { _ in ProcessTests().shell("sleep 100 & printf . > '\(path)'; wait") }
            _ = try await Future<Data?, any Error>(on: .newThread) { try starts.read(upToCount: count) }.value
            for future in futures { future.cancel() }
          }
          func count(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
          }
          try await startAndCancel(2)
          let (descriptors, threads) = (try count("fd"), try count("task"))
          try await startAndCancel(20)
          // The processes have yet to end. Only a failure reaches the bound.
          let end = ContinuousClock.now + .seconds(30)
          while try count("fd") > descriptors || count("task") >= threads + 20, ContinuousClock.now < end {
            await Future.after(.milliseconds(1)).value
          }
          #expect(try count("fd") <= descriptors)
          // Dispatch keeps some idle threads for a while, but fewer than the processes.
          #expect(try count("task") < threads + 20)
        }
      }

      /// Sets the greatest number of open files of this process.
      private static func limitOpenFiles(_ count: Int) {
        var limit = rlimit()
        #expect(unsafe getrlimit(openFiles, &limit) == 0)
        limit.rlim_cur = rlim_t(count)
        #expect(unsafe setrlimit(openFiles, &limit) == 0)
      }

      /// Returns the number of open descriptors, without event queues and timers.
      ///
      /// Dispatch and run loops can make event queues and timers at any time.
      private static func descriptors() throws -> Int {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { number in
          // The descriptor of the folder is closed by now.
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
          return target?.hasPrefix("anon_inode:") == false
        }
      }

      /// Opens descriptors until no number below the greatest is free.
      /// - Returns: The least number that is free.
      private static func fillDescriptors() throws -> Int {
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        var last: Int32 = 0
        // The descriptor of the folder is closed by now, and can be the greatest.
        while last < numbers.max() ?? 0 { last = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        return Int(last) + 1
      }

      /// Waits until Dispatch has looked at its threads for the first time.
      ///
      /// Dispatch does that each second, and ends the process if it has work and finds no free descriptor.
      private static func beginDispatch() {
        // When the second timer fires, Dispatch has done the work that was due at the first one.
        for _ in 1...2 {
          let hasFired = DispatchSemaphore(value: 0)
          let timer = DispatchSource.makeTimerSource()
          timer.setEventHandler { hasFired.signal() }
          timer.schedule(deadline: .now())
          timer.activate()
          hasFired.wait()
        }
      }

      @Test("With too few free descriptors a start fails with ProcessStartError, and leaves none behind")
      func tooManyOpenFiles() async {
        // Runs in a separate process, which has a limit of its own and has not started another process.
        await #expect(processExitsWith: .success) {
          Self.beginDispatch()
          // The first start makes the threads of Foundation. The second has an input, which takes one more descriptor.
          for input in [nil, Data("input".utf8)] {
            // Foundation cannot start a process while a descriptor is above the limit.
            let free = try Self.fillDescriptors()
            let count = try Self.descriptors()
            var refusals = 0
            while refusals < 100 {
              Self.limitOpenFiles(free + refusals)
              let result = await ProcessTests().shell("cat", input: input).result
              Self.limitOpenFiles(1_024)
              guard let error = result.error else {
                #expect(result.value?.standardOutput == input ?? Data())
                break
              }
              #expect(error as? ProcessStartError == .tooManyOpenFiles, "\(refusals) free descriptors: \(error)")
              #expect(try Self.descriptors() <= count, "\(refusals) free descriptors")
              refusals += 1
            }
            // The six ends of the pipes need descriptors, and Foundation needs more.
            #expect((7..<100).contains(refusals))
          }
        }
      }

      @Test("An error of poll fails the future, ends the process, and leaves no descriptor behind")
      func pollError() async {
        // Runs in a separate process, which has a limit of its own.
        await #expect(processExitsWith: .success) {
          let place = try TemporaryPlace()
          let (events, start) = (place.url, place.url.appendingPathExtension("start"))
          _ = try await ProcessTests().shell("mkfifo '\(events.path)' '\(start.path)'").value
          let starts = try FileHandle(forUpdating: start)
          func run() async throws {
            let future = ProcessTests().shell(
              "exec 3> '\(events.path)'; printf . >&3; read line < '\(start.path)'; echo; exec sleep 1000"
            )
            let isRunning = Promise<Void, Never>()
            let reading = Future<Data, any Error>(on: .newThread) {
              let file = try FileHandle(forReadingFrom: events)
              let first = try file.read(upToCount: 1)
              isRunning.succeed()
              return try (first ?? Data()) + (file.readToEnd() ?? Data())
            }
            await isRunning.future.value
            // Only a failure of this test reaches the bounds.
            let (bounded, ended) = (future.timeout(after: .seconds(60)), reading.timeout(after: .seconds(60)))
            // Starts are serial, so the first start has ended when another has failed.
            _ = await Process.future(executable: URL(string: "/bin/ls")!).result
            // `poll` takes no more descriptors than the process can open. The next call polls three.
            Self.limitOpenFiles(2)
            try starts.write(contentsOf: Data("\n".utf8))
            let error = await bounded.result.error as? CocoaError
            Self.limitOpenFiles(1_024)
            #expect(error?.code == .fileReadUnknown)
            let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(underlying?.domain == NSPOSIXErrorDomain && underlying?.code == Int(EINVAL))
            // The reading ends when the process has ended.
            #expect(try await ended.value == Data(".".utf8))
          }
          try await run()
          let count = try Self.descriptors()
          try await run()
          // Foundation has not noticed the end of the process yet. Only a failure reaches the bound.
          let end = ContinuousClock.now + .seconds(30)
          while try Self.descriptors() > count, ContinuousClock.now < end {
            await Future.after(.milliseconds(1)).value
          }
          #expect(try Self.descriptors() <= count)
        }
      }
    #endif

    @Test("Many processes at once have their own outputs")
    func many() async throws {
      let outputs = try await Future.concurrent(0..<100, limit: 8) { shell("printf \($0)") }.value
      #expect(outputs.map { String(decoding: $0.standardOutput, as: UTF8.self) } == (0..<100).map { "\($0)" })
    }
  }

  #if canImport(Glibc)
    private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #elseif os(Linux)
    private let openFiles = RLIMIT_NOFILE
  #endif
#endif
