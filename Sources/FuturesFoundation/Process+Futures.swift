public import Foundation
public import Futures

// There are no child processes elsewhere.
#if os(macOS) || os(Linux)
  /// What a process left when it ended.
  public struct ProcessOutput: Sendable {
    /// The exit code; the number of the signal where that ended it.
    public let terminationStatus: Int32

    /// Whether it exited, or was ended by a signal.
    public let terminationReason: Process.TerminationReason

    /// All that it wrote to its standard output.
    public let standardOutput: Data

    /// All that it wrote to its standard error.
    public let standardError: Data
  }

  extension Process {
    /// Runs a program, and gathers what it writes.
    ///
    /// ```swift
    /// let listing = try await Process.future(executable: URL(fileURLWithPath: "/bin/ls"), arguments: ["-l"]).value
    /// ```
    ///
    /// Both outputs are read as they come, and the input is a file without a name, so whatever the amount, nothing waits for
    /// somebody to read or write. The future resolves when the process has ended, and all processes that it left behind with
    /// its outputs. A program that ends with an error has ended: look at `terminationStatus`.
    ///
    /// Cancellation, future to process: cancelling the future terminates the process (SIGTERM), and fails the future at once with
    /// `CancellationError`; before the start, nothing is started. Process to future: a process that others end by a signal
    /// resolves the future, as `terminationReason` says.
    ///
    /// Cost: the start of a process, and two threads that read until it ends.
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment; that of this process for `nil`.
    ///   - input: What it can read from its standard input, which is empty for `nil`.
    /// - Returns: A future of what it left, which fails with the error of Foundation where the program cannot be started or its
    ///   input cannot be stored.
    public static func future(
      executable: URL,
      arguments: [String] = [],
      environment: [String: String]? = nil,
      input: Data? = nil
    ) -> Future<ProcessOutput, any Error> {
      Future(
        on: .queue(processStarts),
        flattening: {
          let process = Process()
          process.executableURL = executable
          process.arguments = arguments
          if let environment { process.environment = environment }
          do {
            return try process.start(reading: input)
          } catch {
            return .failed(error)
          }
        }
      )
    }

    /// Starts the process.
    /// - Returns: A future of what it leaves.
    private func start(reading input: Data?) throws -> Future<ProcessOutput, any Error> {
      let (output, error) = (Pipe(), Pipe())
      let writers = [output.fileHandleForWriting, error.fileHandleForWriting]
      let inputFile = try input.map(unnamedFile)
      // Not kept open for as long as this object lives, which Foundation for Linux never frees.
      defer { for file in writers + [inputFile].compactMap({ $0 }) { try? file.close() } }
      standardInput = inputFile ?? .nullDevice
      (standardOutput, standardError) = (writers[0], writers[1])
      let ended = Promise<(Int32, TerminationReason), any Error>()
      terminationHandler = { process in
        process.terminationHandler = nil
        ended.succeed((process.terminationStatus, process.terminationReason))
      }
      do {
        try withoutBlockedSignals { try run() }
      } catch {
        terminationHandler = nil
        throw error
      }
      ended.onCancel { if self.isRunning { self.terminate() } }
      return Future.zip(ended.future, output.contents, error.contents).map { ended, output, error in
        ProcessOutput(
          terminationStatus: ended.0,
          terminationReason: ended.1,
          standardOutput: output,
          standardError: error
        )
      }
    }
  }

  extension Pipe {
    /// What is written until the last writer has closed it, read on a thread that waits for it.
    fileprivate var contents: Future<Data, any Error> {
      let reader = fileHandleForReading
      return Future(on: ExecutionContext { work in Thread.detachNewThread(work) }) {
        defer { try? reader.close() }
        return try reader.readToEnd() ?? Data()
      }
    }
  }

  /// Starts processes one after another, so that none inherits what is meant for another.
  private let processStarts = DispatchQueue(label: "futures.process-starts")

  /// Runs `body` with no signal blocked: a process inherits what is blocked where it is started, and threads of Dispatch block
  /// nearly all, SIGTERM among them.
  private func withoutBlockedSignals<Result>(_ body: () throws -> Result) rethrows -> Result {
    var (none, previous) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return try body()
  }

  /// A file with `contents` and without a name, which goes when it is closed.
  ///
  /// Writing to a pipe that nobody reads any more would end this process.
  private func unnamedFile(containing contents: Data) throws -> FileHandle {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("futures-\(UUID().uuidString)")
    // Only this user may read it.
    let permissions: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: place.path, contents: nil, attributes: permissions) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: place.path])
    }
    defer { try? FileManager.default.removeItem(at: place) }
    let file = try FileHandle(forUpdating: place)
    try file.write(contentsOf: contents)
    try file.seek(toOffset: 0)
    return file
  }
#endif
