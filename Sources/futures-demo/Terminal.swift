import Foundation

/// The terminal on standard output.
enum Terminal {
  /// Whether there is one, and it can draw again over what it shows.
  static var canRedraw: Bool {
    isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// How large it is now; 80 by 24 where it does not say.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
    return (size.ws_col > 0 ? Int(size.ws_col) : 80, size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}

/// The lines at the bottom of a terminal that are drawn again and again in the same place.
///
/// The cursor is always at the beginning of the row below them, and is never hidden. So whatever ends the process, the shell
/// finds a whole screen.
struct RedrawnLines {
  private var lines: [String] = []

  /// Puts `lines` in place of those before, and `finished` above them, to stay there.
  /// - Returns: What to write to a terminal that is `columns` wide; nothing if it shows all that already.
  mutating func replace(with lines: [String], below finished: [String], columns: Int) -> String {
    let old = self.lines
    guard lines != old || !finished.isEmpty else { return "" }
    self.lines = lines
    // A terminal that has become narrower since has wrapped what it shows.
    let rows = old.map { max(1, ($0.terminalColumns + columns - 1) / columns) }.reduce(0, +)
    let top = rows > 0 ? "\r\(Self.escape)\(rows)A" : "\r"
    if finished.isEmpty && [old.count, lines.count] == [rows, rows] {
      // Drawing over it, nothing flickers. And without line feeds the terminal gets all in one piece: when Ctrl-C discards
      // what it has not read yet, it still has the cursor where we think.
      return top + lines.map { $0 + Self.eraseRest + Self.down }.joined()
    }
    return top + Self.eraseAll + (finished + lines).map { $0 + "\n" }.joined()
  }

  private static let escape = "\u{1B}["

  /// Goes to the beginning of the next row, which is there.
  private static let down = "\r" + escape + "B"

  /// Erases the rest of the row.
  private static let eraseRest = escape + "K"

  /// Erases this row and those below, from the beginning of this one.
  ///
  /// First the row, and then all from its second column on, since tmux would keep in its history what is erased from the
  /// first place of the screen on.
  private static let eraseAll = eraseRest + " " + escape + "J" + "\r"
}
