"""Looks for code of the programs and the tests that a Mac would not compile, although they run on Linux only.

A target cannot have a higher floor than its package. The programs use far more of Foundation and of the C library than the stubs
declare. So only the messages about availability count. An expression with an unknown name hides its message about availability.
"""

import re

from modules import FRONTEND, run

PROGRAMS = {
    name: f"Sources/{name}" for name in ("futures-demo", "futures-benchmark", "futures-stress", "CallbackMigration")
} | {"TestSupport": "Tests/Support"}
AVAILABILITY = re.compile(r"(?m)^(\S+?):(\d+):\d+: error: (.* is only available in .*)$")
# Packages of their own, with floors of their own.
OTHER_PACKAGES = ("Tests/SampleApp/", "Tests/MigrationFixture/")


def check_programs(check, folder, seeds=()):
    """Returns the messages about availability. The modules of the libraries are those of `check`; `seeds` are further sources."""
    for library in ("FuturesAsync", "FuturesTesting", "FuturesFoundation", "ProgramSupport"):
        check.emit_module(library)
    header = folder / "Sources/AllocationCounter/include/AllocationCounter.h"
    (check.products / "module.modulemap").write_text(f'module AllocationCounter {{ header "{header}" export * }}\n')
    found = []
    for name, path in PROGRAMS.items():
        sources = [*sorted((folder / path).rglob("*.swift")), *seeds]
        result = run([*FRONTEND, "-typecheck", "-suppress-warnings", *check.options(name), *sources])
        found += [f"{path}:{line}: {text}" for path, line, text in AVAILABILITY.findall(result.stdout)]
    return [fault.removeprefix(f"{folder}/") for fault in dict.fromkeys(found)]


def check_imports(folder):
    """Returns the imports of Synchronization that Apple platforms would compile. It needs macOS 15."""
    found = []
    for path in sorted([*(folder / "Sources").rglob("*.swift"), *(folder / "Tests").rglob("*.swift")]):
        name = str(path.relative_to(folder))
        if not name.startswith(OTHER_PACKAGES):
            found += [f"{name}:{line}: Synchronization needs macOS 15. Use `Locked`." for line in imports(path.read_text())]
    return found


def imports(source):
    """Returns the lines of the imports of Synchronization that are not in a branch for other platforms."""
    lines, branches = [], []  # for each open `#if`: whether Apple platforms compile the branch
    for number, line in enumerate(source.splitlines(), 1):
        words = line.split() or [""]
        if words[0] == "#if":
            branches.append({"!canImport(Darwin)": False, "os(Linux)": False, "canImport(Darwin)": None}.get(words[1], True))
        elif words[0] in ("#else", "#elseif"):
            branches[-1] = branches[-1] is not None  # after `#if canImport(Darwin)`: other platforms
        elif words[0] == "#endif":
            branches.pop()
        elif words[-2:] == ["import", "Synchronization"] and False not in branches:
            lines.append(number)
    return lines
