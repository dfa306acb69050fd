import Foundation

/// The parsed command line.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Command {
  enum Work {
    case help
    case tour
    case download([URL], folder: URL)
  }

  let work: Work

  /// The time after which unfinished downloads are cancelled.
  let deadline: Duration?

  /// Whether to draw progress bars if standard output is a terminal.
  let showsProgress: Bool

  /// Whether to print the graph while the downloads run.
  let showsGraph: Bool
}

/// A mistake in the command line, as a sentence.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Command {
  static let helpText = """
    Usage: futures-demo [--output DIR] [--cancel-after SECONDS] [--graph] [URL ...]

    Downloads each URL (http or https) to a file, at most four at once. Without URLs it serves four files of its
    own on 127.0.0.1, downloads them by callback, by future and by await, and compares every byte.

      --output DIR             The folder for the files, which must exist. Without it: the current folder.
      --cancel-after SECONDS   Cancels unfinished downloads after that time, as Ctrl-C does.
      --no-progress            Draws no bars.
      --graph                  Writes the graph of pending work to standard error while the downloads run. Draws no bars.
      --help                   Shows this text.

    On a terminal, bars show the progress of each file and of the whole: percent, MB/s, time left. Each file has the same
    share of the whole, whatever its size. In a pipe or a log there is one line for each finished file.

    A file is named after the last part of its URL, or index.html if there is none. Control and format characters, such
    as characters that reverse the direction of text, become "_". Nothing is overwritten: if an earlier file or another
    URL has the name, a number is added (data-2.bin). During a download its file ends in .part. A failed or cancelled
    download leaves no file.

    Exit code: 0 if every file arrived, 1 if one did not, 2 if the command line is wrong, 130 after Ctrl-C, 143 after
    SIGTERM.
    """

  /// Reads the arguments, without the name of the program.
  init(_ arguments: [String]) throws(UsageError) {
    var urls: [URL] = []
    var folder: URL?
    var deadline: Duration?
    var showsProgress = true
    var showsGraph = false
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h":
        self.init(work: .help, deadline: nil, showsProgress: false, showsGraph: false)
        return
      case "--no-progress":
        showsProgress = false
      case "--graph":
        showsGraph = true
      case "--output":
        folder = try Self.folder(rest.popFirst().flatMap { $0.hasPrefix("-") ? nil : $0 } ?? "")
      case _ where argument.hasPrefix("--output="):
        folder = try Self.folder(String(argument.dropFirst("--output=".count)))
      case "--cancel-after":
        deadline = try Self.seconds(rest.popFirst() ?? "")
      case _ where argument.hasPrefix("--cancel-after="):
        deadline = try Self.seconds(String(argument.dropFirst("--cancel-after=".count)))
      case _ where argument.hasPrefix("-"):
        throw UsageError("There is no option \(argument); see futures-demo --help.")
      default:
        urls.append(try Self.url(argument))
      }
    }
    if urls.isEmpty && folder != nil { throw UsageError("--output needs at least one URL to download.") }
    let current = URL(filePath: ".", directoryHint: .isDirectory)
    let work = urls.isEmpty ? Work.tour : .download(urls, folder: folder ?? current)
    self.init(work: work, deadline: deadline, showsProgress: showsProgress && !showsGraph, showsGraph: showsGraph)
  }

  private static func seconds(_ text: String) throws(UsageError) -> Duration {
    guard let seconds = Double(text), (0...1e9).contains(seconds) else {
      throw UsageError("--cancel-after needs a number of seconds after it.")
    }
    return .seconds(seconds)
  }

  private static func folder(_ path: String) throws(UsageError) -> URL {
    guard !path.isEmpty else { throw UsageError("--output needs a folder after it.") }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw UsageError("The output folder “\(path)” does not exist.")
    }
    guard isDirectory.boolValue else { throw UsageError("The output folder “\(path)” is a file.") }
    guard FileManager.default.isWritableFile(atPath: path) else {
      throw UsageError("The output folder “\(path)” is not writable.")
    }
    return URL(filePath: path, directoryHint: .isDirectory)
  }

  private static func url(_ text: String) throws(UsageError) -> URL {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = url.host(), !host.isEmpty, (1...65_535).contains(url.port ?? 80)
    else { throw UsageError("“\(text)” is not an http or https URL.") }
    return url
  }
}
