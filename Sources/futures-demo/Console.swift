import Foundation

/// Writes a line to standard output at once, also when that is a pipe.
func say(_ line: String) {
  put(line + "\n")
}

/// Writes text to standard output as it is.
func put(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}

/// Writes a line to standard error.
func complain(_ line: String) {
  try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
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
