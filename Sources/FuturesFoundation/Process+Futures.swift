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
    /// Input and outputs are files without a name, so whatever the amount, nothing waits for somebody to read or write. The future
    /// resolves when the process has ended; Foundation for Linux does not notice that before processes that it left behind have
    /// ended, too. A program that ends with an error has ended: look at `terminationStatus`.
    ///
    /// Cancellation, future to process: cancelling the future terminates the process (SIGTERM), and fails the future at once with
    /// `CancellationError`; before the start, nothing is started. Process to future: a process that others end by a signal
    /// resolves the future, as `terminationReason` says.
    ///
    /// Cost: the start of a process and up to three files, on a thread of the global queue.
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment; that of this process for `nil`.
    ///   - input: What it can read from its standard input, which is empty for `nil`.
    /// - Returns: A future of what it left, which fails with the error of Foundation where the program cannot be started or its
    ///   files cannot be made.
    public static func future(
      executable: URL,
      arguments: [String] = [],
      environment: [String: String]? = nil,
      input: Data? = nil
    ) -> Future<ProcessOutput, any Error> {
      Future(
        on: .global(),
        flattening: {
          Future { promise in
            do {
              let (output, error) = (try UnnamedFile(), try UnnamedFile())
              let process = Process()
              process.executableURL = executable
              process.arguments = arguments
              if let environment { process.environment = environment }
              process.standardInput = try input.map { try UnnamedFile(containing: $0).reader } ?? .nullDevice
              process.standardOutput = output.writer
              process.standardError = error.writer
              process.terminationHandler = { process in
                promise.resolve(
                  Result {
                    ProcessOutput(
                      terminationStatus: process.terminationStatus,
                      terminationReason: process.terminationReason,
                      standardOutput: try output.reader.readToEnd() ?? Data(),
                      standardError: try error.reader.readToEnd() ?? Data()
                    )
                  }
                )
              }
              try process.run()
              promise.onCancel { if process.isRunning { process.terminate() } }
            } catch {
              promise.fail(error)
            }
          }
        }
      )
    }
  }

  /// A file that has no name any more, and goes when both ends have gone.
  ///
  /// A pipe would have to be drained while it fills, and writing to one that nobody reads any more would end this process.
  private struct UnnamedFile: Sendable {
    /// Writes to its end.
    let writer: FileHandle

    /// Reads from its beginning, whatever has been written meanwhile.
    let reader: FileHandle

    /// Makes a file with `contents`, which only this user may read.
    init(containing contents: Data = Data()) throws {
      let place = FileManager.default.temporaryDirectory.appendingPathComponent("futures-\(UUID().uuidString)")
      let permissions: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
      guard FileManager.default.createFile(atPath: place.path, contents: nil, attributes: permissions) else {
        throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: place.path])
      }
      defer { try? FileManager.default.removeItem(at: place) }
      writer = try FileHandle(forWritingTo: place)
      reader = try FileHandle(forReadingFrom: place)
      if !contents.isEmpty { try writer.write(contentsOf: contents) }
    }
  }
#endif
