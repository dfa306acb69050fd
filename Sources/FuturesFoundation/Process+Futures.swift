// There are no child processes elsewhere.
#if os(macOS) || os(Linux)
  public import Foundation
  public import Futures

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

  /// Why `Process.future` refuses to start a program.
  public enum ProcessStartError: Error, Equatable, CustomStringConvertible, LocalizedError {
    /// The URL of the executable is not a file URL.
    case executableIsNotAFile(URL)

    /// The path, an argument or an entry of the environment contains a NUL. The system would cut the text there.
    case containsNUL(String)

    /// This process, or the system, has too many open files to start another process.
    case tooManyOpenFiles

    /// The cause, and the remedy.
    public var description: String {
      switch self {
      case .executableIsNotAFile(let url):
        "The executable \(url.absoluteString.debugDescription) is not a file URL. Use URL(fileURLWithPath:)."
      case .containsNUL(let text):
        "The system would cut \(text.debugDescription) at its NUL. Remove the NUL."
      case .tooManyOpenFiles:
        "There are too many open files to start a process. Close some, or raise the limit (ulimit -n)."
      }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
  }

  extension Process {
    /// Runs a program, and collects its outputs.
    ///
    /// ```swift
    /// let listing = try await Process.future(executable: URL(fileURLWithPath: "/bin/ls"), arguments: ["-l"]).value
    /// ```
    ///
    /// A thread reads the outputs continuously, and the input is a file without a name. So the program never blocks on
    /// this process, whatever the amount. The future resolves when the program has ended. Processes that it started can
    /// hold its outputs open; the future waits for these too. The future succeeds even if the program fails: check
    /// `terminationStatus`.
    ///
    /// Cancellation: cancelling the future fails it at once with `CancellationError`. While the program runs, it and the
    /// other processes of its group get SIGTERM, and SIGCONT, so that stopped ones end too. If the program still runs after 5
    /// seconds, the group gets SIGKILL. The library also closes the outputs. A process that ignores SIGTERM, or has left the
    /// group, gets SIGPIPE when it writes. A cancellation before the start prevents the start.
    /// If another process ends the program by a signal, the future succeeds, and `terminationReason` has the cause.
    ///
    /// Cost: the start of a process, and a thread that reads its outputs.
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment, or `nil` for the environment of this process.
    ///   - input: Its standard input, or `nil` for an empty one.
    ///   - fileID: The file that diagnostics name.
    ///   - line: The line that diagnostics name.
    /// - Returns: A future of its outputs and its status. It fails with `ProcessStartError`, or with Foundation's error
    ///   if Foundation cannot start the program, store its input or read its outputs.
    public static func future(
      executable: URL,
      arguments: [String] = [],
      environment: [String: String]? = nil,
      input: Data? = nil,
      fileID: StaticString = #fileID,
      line: UInt = #line
    ) -> Future<ProcessOutput, any Error> {
      future(
        executable: executable,
        arguments: arguments,
        environment: environment,
        input: input,
        timer: .global(),
        fileID: fileID,
        line: line
      )
    }

    /// As the public function.
    ///
    /// `timer` measures the time between SIGTERM and SIGKILL.
    package static func future(
      executable: URL,
      arguments: [String] = [],
      environment: [String: String]? = nil,
      input: Data? = nil,
      timer: ExecutionContext,
      fileID: StaticString = #fileID,
      line: UInt = #line
    ) -> Future<ProcessOutput, any Error> {
      Future(
        on: .queue(processStarts),
        flattening: {
          do {
            try checkStart(of: executable, arguments, environment)
            let process = Process()
            process.executableURL = executable
            process.arguments = arguments
            if let environment { process.environment = environment }
            return try process.start(reading: input, timer, fileID, line)
          } catch {
            return .failed(error)
          }
        }
      )
    }

    /// Starts the process.
    /// - Returns: A future of its outputs and its status.
    private func start(
      reading input: Data?,
      _ timer: ExecutionContext,
      _ fileID: StaticString,
      _ line: UInt
    ) throws -> Future<ProcessOutput, any Error> {
      let (output, error, stop) = try (PipeEnds(), PipeEnds(), PipeEnds())
      let writers = [output.writing, error.writing]
      let inputFile = try input.map(unnamedFile)
      // Closes the files before this object is released: Foundation for Linux never releases it.
      defer { for file in writers + [inputFile].compactMap({ $0 }) { try? file.close() } }
      standardInput = inputFile ?? .nullDevice
      (standardOutput, standardError) = (writers[0], writers[1])
      let ended = Promise<(Int32, TerminationReason), any Error>(fileID: fileID, line: line)
      ended.describe(as: .process, executableURL?.path ?? "")
      terminationHandler = { process in
        process.terminationHandler = nil
        ended.succeed((process.terminationStatus, process.terminationReason))
      }
      do {
        try checkDescriptors()
        try withoutBlockedSignals { try run() }
      } catch {
        terminationHandler = nil
        throw error
      }
      ended.onCancel { self.end(timer) }
      return Future.zip(ended.future, contents(of: [output, error], until: stop)).map { ended, contents in
        ProcessOutput(
          terminationStatus: ended.0,
          terminationReason: ended.1,
          standardOutput: contents[0],
          standardError: contents[1]
        )
      }
    }

    /// The time between SIGTERM and SIGKILL, in nanoseconds.
    package static let timeToEnd: Int64 = 5_000_000_000

    /// Ends the program and the other processes of its group.
    private func end(_ timer: ExecutionContext) {
      signalGroup(SIGTERM)
      signalGroup(SIGCONT)  // a stopped process gets no other signal
      _ = timer.schedule(afterNanoseconds: Self.timeToEnd) { self.signalGroup(SIGKILL) }
    }

    /// Sends a signal to the group of the program while the program runs.
    ///
    /// Afterwards the system can give its number to another process.
    private func signalGroup(_ signal: Int32) {
      guard isRunning else { return }
      // Foundation for Linux makes each process the leader of a new group. On other systems the group might not exist.
      if kill(-processIdentifier, signal) != 0 { kill(processIdentifier, signal) }
    }
  }

  /// The two ends of a pipe, which close when they are released.
  ///
  /// Q: Why not `Pipe`? A: Its initializer cannot fail. Without descriptors it makes an object without ends.
  private struct PipeEnds: Sendable {
    let reading: FileHandle
    let writing: FileHandle

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { throw descriptorError(errno, .fileReadUnknown) }
      reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
      writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
  }

  /// Returns the error of a system call that made no descriptor.
  private func descriptorError(_ code: Int32, _ other: CocoaError.Code, at file: URL? = nil) -> any Error {
    if code == EMFILE || code == ENFILE { return ProcessStartError.tooManyOpenFiles }
    return CocoaError.posix(code, other, at: file)
  }

  /// Throws if there are fewer free descriptors than Foundation needs to start a process.
  ///
  /// Foundation for Linux does not check: without descriptors it traps, never notices the end of the process, or closes
  /// descriptor 0. Another thread can still open files between this check and the start.
  private func checkDescriptors() throws {
    #if os(Linux)
      // The first start takes 13, and keeps most of them for run loops.
      let needed = 16
      var copies: [Int32] = []
      defer { for copy in copies { close(copy) } }
      while copies.count < needed {
        let copy = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard copy >= 0 else { throw descriptorError(errno, .fileReadUnknown) }
        copies.append(copy)
      }
    #endif
  }

  /// Reads pipes, on one thread, until the last writer of each has closed it.
  /// - Returns: A future of the contents of each pipe. Cancelling it closes the reading ends.
  private func contents(of pipes: [PipeEnds], until stop: PipeEnds) -> Future<[Data], any Error> {
    // Q: Why not a Dispatch source, which needs no thread? A: When a pipe hangs up, Dispatch for Linux unregisters its
    // descriptor twice. The second time can follow the cancel handler. It then affects the next pipe with the same
    // number.
    Future { promise in
      // Both closures keep both ends of `stop` open: a write without a reader would end this process (SIGPIPE).
      promise.onCancel { try? write(Data([0]), to: stop.writing) }
      Thread.detachNewThread {  // blocks in `poll`
        let result = Result { try readAll(pipes, unlessReadable: stop) }
        for pipe in pipes { try? pipe.reading.close() }
        promise.resolve(result)
      }
    }
  }

  /// Reads pipes until the last writer of each has closed it.
  /// - Throws: `CancellationError` when `stop` has bytes to read.
  private func readAll(_ pipes: [PipeEnds], unlessReadable stop: PipeEnds) throws -> [Data] {
    var contents = pipes.map { _ in Data() }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var polled = (pipes + [stop]).map { pipe in
      pollfd(fd: pipe.reading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    }
    while polled.dropLast().contains(where: { $0.fd >= 0 }) {
      guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else {
        if errno == EINTR { continue }  // interrupted by a signal
        throw CocoaError.posix(errno, .fileReadUnknown)
      }
      if polled[pipes.count].revents != 0 { throw CancellationError() }
      for index in pipes.indices where polled[index].revents != 0 {
        let count = unsafe read(polled[index].fd, &buffer, buffer.count)
        if count < 0 { throw CocoaError.posix(errno, .fileReadUnknown) }
        contents[index].append(contentsOf: buffer[..<count])
        if count == 0 { polled[index].fd = -1 }  // the end: `poll` skips it
      }
    }
    return contents
  }

  /// Throws if Foundation would trap in this process, or if the system would cut a text of the start.
  private func checkStart(
    of executable: URL,
    _ arguments: [String],
    _ environment: [String: String]?
  ) throws(ProcessStartError) {
    guard executable.isFileURL else { throw .executableIsNotAFile(executable) }
    // Foundation does not decode an encoded NUL. It would search for a file with "%00" in its name.
    if executable.absoluteString.contains("%00") { throw .containsNUL(executable.absoluteString) }
    for text in arguments + (environment ?? [:]).flatMap({ [$0.key, $0.value] }) where text.utf8.contains(0) {
      throw .containsNUL(text)
    }
  }

  /// Starts processes one after another, so that none inherits the files of another.
  private let processStarts = DispatchQueue(label: "futures.process-starts")

  /// Runs `body` with no signal blocked.
  ///
  /// A process inherits the blocked signals of the starting thread. Threads of Dispatch block nearly all, also SIGTERM.
  private func withoutBlockedSignals<Result>(_ body: () throws -> Result) rethrows -> Result {
    var (none, previous) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return try body()
  }

  /// Returns a file with `contents` and without a name.
  ///
  /// The system deletes it when it is closed.
  ///
  /// A pipe would not do: writing to a pipe without a reader ends this process (SIGPIPE).
  private func unnamedFile(containing contents: Data) throws -> FileHandle {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("futures-\(UUID().uuidString)")
    // Only this user can read it.
    let descriptor = unsafe open(place.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw descriptorError(errno, .fileWriteUnknown, at: place) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    unsafe unlink(place.path)
    try write(contents, to: file)
    try file.seek(toOffset: 0)
    return file
  }

  /// Writes all bytes.
  ///
  /// Q: Why not `FileHandle.write(contentsOf:)`? A: It needs macOS 10.15.4.
  private func write(_ data: Data, to file: FileHandle) throws {
    var rest = data[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(file.fileDescriptor, $0.baseAddress!, $0.count) }
      guard count >= 0 else {
        if errno == EINTR { continue }  // interrupted by a signal
        throw CocoaError.posix(errno, .fileWriteUnknown)
      }
      rest = rest.dropFirst(count)
    }
  }
#endif
