extension MigrationArguments {
  /// The text of `--help`.
  package var help: String {
    Self.usage(isPlugin ? "swift package migrate-callbacks" : "migrate-callbacks", isPlugin ? "[--target T] " : "")
      + "\n" + Self.commandHelp + (isPlugin ? "" : Self.projectHelp) + Self.optionHelp
      + (isPlugin ? Self.pluginHelp : "")
  }

  private static func usage(_ name: String, _ targetOption: String) -> String {
    let indentation = String(repeating: " ", count: "Usage: \(name) generate ".count)
    return """
      Usage: \(name) report   \(targetOption)[--json] [--check BASELINE] [--minimum-access LEVEL]
             \(name) generate \(targetOption)[--style futures|async|both] [--only PATTERN]
      \(indentation)[--output FILE | --beside] [--minimum-access LEVEL] [--deprecate]

      """
  }

  private static let commandHelp = """
    report    Lists every function that takes an escaping callback, how many have an async counterpart, and why a
              counterpart cannot be written.
    generate  Writes extensions with an async counterpart for each function, and one that returns a future. Prints what it
              cannot write safely, with the reason and the line of .migrate-callbacks.json that would settle it.

    """

  /// The options of the executable.
  private static let projectHelp = """

    --module NAME           A module of a project without Package.swift. Its build writes symbol graphs with these options of
                            swiftc, which are Xcode's OTHER_SWIFT_FLAGS:
                              -emit-symbol-graph -emit-symbol-graph-dir FOLDER
                              -symbol-graph-minimum-access-level private -symbol-graph-skip-synthesized-members
                              -include-spi-symbols -omit-extension-block-symbols
    --sources FOLDER        The folder of its sources.
    --symbol-graphs FOLDER  The folder of its symbol graphs.

    """

  private static let optionHelp = """
    --minimum-access LEVEL  Leaves out what is less accessible: public (the default), internal, package, open.
    --json                  Prints the report as JSON.
    --check BASELINE        Ends with 1 if a function takes a callback and has no counterpart, and BASELINE, a file that
                            `report --json` has written, does not have it.
    --style STYLE           The kinds of counterparts. With async, nothing public mentions Futures.
    --output FILE           Where to write, relative to the package, instead of printing. A file that this has not
                            written is not overwritten.
    --beside                Writes a file beside each source file: Store+Counterparts.swift beside Store.swift.
    --only PATTERN          Only functions whose title matches, such as 'Store.*' or 'user(id:'. Other functions keep the
                            counterparts that FILE has.
    --deprecate             Prints the annotations that deprecate the functions that have a counterpart, as a diff.

    """

  /// The options of SwiftPM for the plugin.
  private static let pluginHelp = """
    --target T              The target; without it all libraries of the package, or for generate the only one.

    On macOS, write `swift package --allow-writing-to-package-directory migrate-callbacks` to write files.

    """
}
