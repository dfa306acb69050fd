/// Traps with `message`, in every build, if the caller broke a rule of the API.
///
/// Q: Why not `precondition`? A: An optimised build traps without its message.
/// - Parameters:
///   - condition: The rule.
///   - message: Names the mistake and the remedy.
///   - file: The file that the message names.
///   - line: The line that the message names.
@inlinable
@inline(__always)
func require(
  _ condition: Bool,
  _ message: @autoclosure () -> String,
  file: StaticString = #fileID,
  line: UInt = #line
) {
  if !condition { fatalError(message(), file: file, line: line) }
}
