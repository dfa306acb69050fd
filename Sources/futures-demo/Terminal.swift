import Foundation

/// The terminal on standard output.
enum Terminal {
  /// Whether standard output is a terminal that can redraw lines.
  static var canRedraw: Bool {
    isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The current size, or 80 by 24 if the terminal does not report it.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
    return (size.ws_col > 0 ? Int(size.ws_col) : 80, size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}

/// Lines at the bottom of a terminal that are redrawn in place.
///
/// The cursor stays at the beginning of the row below them, and is never hidden. So the screen is intact, however the process
/// ends.
struct RedrawnLines {
  private var lines: [String] = []

  /// Replaces the drawn lines with `lines`, and prints `finished` above them.
  /// - Returns: The text for a terminal that is `columns` wide. It is empty if nothing has changed.
  mutating func replace(with lines: [String], below finished: [String], columns: Int) -> String {
    let old = self.lines
    guard lines != old || !finished.isEmpty else { return "" }
    self.lines = lines
    // A terminal that has become narrower has wrapped the drawn lines.
    let rows = old.map { max(1, ($0.terminalColumns + columns - 1) / columns) }.reduce(0, +)
    let top = rows > 0 ? "\r\(Self.escape)\(rows)A" : "\r"
    if finished.isEmpty && [old.count, lines.count] == [rows, rows] {
      // Overwriting does not flicker. Without line feeds the terminal gets the text in one piece. So the position of the cursor
      // stays known when Ctrl-C discards unread output.
      return top + lines.map { $0 + Self.eraseRest + Self.down }.joined()
    }
    return top + Self.eraseAll + (finished + lines).map { $0 + "\n" }.joined()
  }

  private static let escape = "\u{1B}["

  /// Moves to the beginning of the next row, which exists.
  private static let down = "\r" + escape + "B"

  /// Erases the rest of the row.
  private static let eraseRest = escape + "K"

  /// Erases this row and the rows below.
  ///
  /// It erases the row, and then the rest from the second column on: tmux would keep text in its history that is erased from
  /// the first column of the screen on.
  private static let eraseAll = eraseRest + " " + escape + "J" + "\r"
}
