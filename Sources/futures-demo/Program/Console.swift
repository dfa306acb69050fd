import Foundation

/// Writes a line to standard output at once, also to a pipe.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
func say(_ line: String) {
  put(line + "\n")
}

/// Writes text to standard output as it is.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
func put(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}

/// Writes a line to standard error, without harmful characters from the command line.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
func complain(_ line: String) {
  try? FileHandle.standardError.write(contentsOf: Data((line.harmless + "\n").utf8))
}

extension String {
  /// The text with "_" for each control or format character, which can control the terminal or disguise the text.
  ///
  /// Format characters reverse the direction of text: "cod\u{202E}gpj.exe" looks like "codexe.jpg".
  var harmless: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.isHarmful ? "_" : $0 }))
  }
}

extension Unicode.Scalar {
  fileprivate var isHarmful: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension StringProtocol {
  /// The text with `filler` behind or before it, at least `width` characters long.
  func padded(to width: Int, with filler: Character = " ", atStart: Bool = false) -> String {
    let padding = String(repeating: filler, count: Swift.max(0, width - count))
    return atStart ? padding + self : self + padding
  }
}

/// The number with commas between its thousands.
func grouped(_ number: Int64) -> String {
  var digits = String(number)[...]
  var groups: [Substring] = []
  while digits.count > 3 {
    groups.insert(digits.suffix(3), at: 0)
    digits = digits.dropLast(3)
  }
  return ([digits] + groups).joined(separator: ",")
}
