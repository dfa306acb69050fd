extension MigrationArguments {
  /// The text of `--help`.
  public var help: String {
    (isPlugin ? Self.usage("swift package migrate-callbacks") : Self.usage("migrate-callbacks")) + "\n"
      + Self.commandHelp + (isPlugin ? "" : Self.projectHelp) + Self.optionHelp + (isPlugin ? Self.pluginHelp : "")
  }

  private static func usage(_ name: String) -> String {
    var text = ""
    for (command, lines) in commands {
      let start = (text.isEmpty ? "Usage: " : "       ") + name + " " + command.fitted(to: 11)
      for (index, line) in lines.enumerated() {
        text += (index == 0 ? start : "".fitted(to: start.count)) + " " + line + "\n"
      }
    }
    return text
  }

  private static let commands = [
    ("report", ["[--target T] [--format table|json|markdown] [--minimum-access LEVEL]", "[--check BASELINE]"]),
    (
      "generate",
      [
        "[--target T] [--style futures|async|both|sync|callbacks] [--only PATTERN]",
        "[--output FILE | --beside] [--minimum-access LEVEL] [--deprecate]",
      ]
    ),
    ("callers", ["[--target T] [--json] [--allow RISKS] [--minimum-access LEVEL]"]),
    (
      "convert",
      [
        "[--target T] [--only PATTERN] [--functions] [--allow RISKS]",
        "[--diff | --apply | --commit | --commit-by UNIT] [--test]",
        "[--minimum-access LEVEL]",
      ]
    ),
    (
      "turn-around",
      [
        "[--target T] [--only PATTERN] [--style futures|async] [--allow RISKS]",
        "[--diff | --apply] [--minimum-access LEVEL]",
      ]
    ),
    ("compare", ["[--target T] [--only PATTERN] [--minimum-access LEVEL]"]),
  ]

  private static let commandHelp = """
    report    Lists every function that takes an escaping callback, how many have an async counterpart, and why a
              counterpart cannot be written.
    generate  Writes extensions with an async counterpart for each function, and one that returns a future. Prints what it
              cannot write safely, with the reason and the line of .migrate-callbacks.json that would settle it.
    callers   Lists every call of these functions: ready (in async code), next (in a function that itself takes a callback),
              edge (in synchronous code), or by hand, with the reason; and a plan, leaf first.
    convert   Converts the calls that are ready into awaits, each change built in a copy. Prints a diff, and the calls that
              it leaves, with the reasons.
    turn-around
              Replaces the body of each callback function whose async counterpart does the work itself: the function then
              calls the counterpart. Prints a diff, and the functions that it leaves, with the reasons.
    compare   Prints a draft of tests that compare each function with its async counterpart in every order, for you to
              complete: the arguments, and doubles of the outside.

    """

  /// The options of the executable.
  private static let projectHelp = """

    --package-path PATH     The folder of the package; otherwise the current folder.
    --module NAME           A module of a project without Package.swift. Its build writes symbol graphs with these options of
                            swiftc, which are Xcode's OTHER_SWIFT_FLAGS:
                              -emit-symbol-graph -emit-symbol-graph-dir FOLDER
                              -symbol-graph-minimum-access-level private -symbol-graph-skip-synthesized-members
                              -include-spi-symbols -omit-extension-block-symbols
    --sources FOLDER        With --module: the folder of its sources.
    --symbol-graphs FOLDER  With --module: the folder of its symbol graphs.
    --index-store FOLDER    With --module: the compiler's index that its build has written, for callers.
    --build COMMAND         With --module: a shell command that builds the project, for callers, convert and turn-around. It
                            runs in a copy of the current folder, and writes all results, with the index, into
                            $MIGRATION_BUILD.

    """

  private static let optionHelp = """
    --target T              The target; without it all libraries of the package, or for generate the only one.
    --minimum-access LEVEL  Leaves out what is less accessible: public (the default of report and generate), internal (the
                            default of callers, convert, turn-around and compare), package, open.
    --format FORMAT, --json How to print the report.
    --check BASELINE        Ends with 1 if a function takes a callback and has no counterpart, and BASELINE, a file that
                            `report --json` has written, does not have it.
    --style STYLE           The kinds of counterparts. With async, nothing public mentions Futures. With sync, functions
                            whose callback does not escape get one that returns or throws. With callbacks, each async
                            function gets a function with a callback. With turn-around, async writes plain tasks, for
                            targets that do not depend on Futures.
    --output FILE           Where to write, relative to the package, instead of printing. A file that this has not
                            written is not overwritten.
    --beside                Writes a file beside each source file: Store+Counterparts.swift beside Store.swift.
    --only PATTERN          Only functions whose title matches, such as 'Store.*' or 'user(id:'. Other functions keep the
                            counterparts that FILE has.
    --functions             Converts functions with a callback, too, leaf first: adds an async counterpart beside each.
    --allow RISKS           Converts although the code then does something else: order, callers, loop, defer, lock,
                            weak-self, main-queue, isolation, cancellation, with commas between them.
    --apply                 Changes the files instead of printing a diff. They have to be committed before.
    --commit                Makes a git commit for each function instead, leaf first. Each commit builds.
    --commit-by UNIT        The same, with a commit for each function, or for each owner of a CODEOWNERS file.
    --test                  Runs the package's tests before all changes and after those of each function. Leaves a function
                            with which they fail, and says which test fails.
    --deprecate             Prints the annotations that deprecate the functions that have a counterpart, as a diff.

    """

  /// The options of SwiftPM for the plugin.
  private static let pluginHelp = """

    On macOS, write `swift package --allow-writing-to-package-directory migrate-callbacks` to write files, and add
    --disable-sandbox for callers, convert and turn-around.

    """
}
