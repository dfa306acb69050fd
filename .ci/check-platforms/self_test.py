"""Plants faults in a copy of the sources, and expects that the checks find each one."""

from pathlib import Path

import branches
import programs
import symbols
from c import check_c
from swift import Check

# The floor that the seeds are about, whatever Package.swift says.
VERSION = "13.0"
# A name, the library, the source, and a part of the expected message.
SEEDS = [
    ("Mutex", "Futures", "import Synchronization\nlet seed = Mutex(0)", "'Mutex' is only available in macOS 15.0 or newer"),
    (
        "ExecutorPreference", "FuturesAsync",
        "func seed() { Task(executorPreference: globalConcurrentExecutor) {} }",
        "only available in macOS 15.0 or newer",
    ),
    ("TypedPack", "Futures", "struct Seed<each Value> {}", "only available in macOS 14.0.0 or newer"),
    ("Warning", "FuturesTesting", "func seed() { let unused = 1 }", "initialization of immutable value 'unused' was never used"),
    (
        "UnknownName", "FuturesFoundation",
        "import Foundation\nfunc seed(_ directory: ByteCountFormatter) {}",
        "add its declaration to .ci/check-platforms/stubs",
    ),
    (
        "FoundationAvailability", "FuturesFoundation",
        "import Foundation\nfunc seed(_ reporter: Foundation.ProgressReporter) {}",
        "'ProgressReporter' is only available in macOS 9999 or newer",
    ),
    ("AmbiguousName", "FuturesFoundation", "import Foundation\nimport Futures\nextension ProgressReporter {}", "'ProgressReporter' is ambiguous"),
]  # fmt: skip
# References that the compiler makes strong.
SYMBOL_SEEDS = """
@available(macOS 26, *)
public func seedEscalation() async {
  await withTaskPriorityEscalationHandler { } onPriorityEscalated: { _, _ in }
}
@_silgen_name("futures_seed_of_no_system") func seedUnknown()
public func callsSeedUnknown() { seedUnknown() }
"""
SYMBOL_MESSAGES = {
    "strong newer symbol": "swift_task_addPriorityEscalationHandler exists from macOS 26.0 on",
    "unknown symbol": "futures_seed_of_no_system has an unknown version",
}
C_SEEDS = {
    "C warning": ("int cfutures_seed(int unused) { return 0; }", "unused parameter"),
    "newer C function": (
        "__attribute__((availability(macos,introduced=15.0))) void newer(void);\nvoid cfutures_seed(void) { newer(); }",
        "only available on macOS 15.0 or newer",
    ),
}


def plant(package, modules, work, pool):
    """Returns the seeds that no check finds, and the number of all."""
    copy = package.copied(work / "seeds")
    macos = modules["macOS"]
    for name, library, source, _ in SEEDS:
        (copy.folder / "Sources" / library / f"Seed{name}.swift").write_text(source + "\n")
    # The clean modules: a fault in one library must not hide those in another.
    clean = Check(package, macos, VERSION, work / "seed-products")
    clean.run()
    libraries = list(dict.fromkeys(library for _, library, _, _ in SEEDS))
    found = dict(zip(libraries, pool.map(lambda library: clean.type_check(library, copy), libraries)))
    missed, count = [], len(SEEDS)
    for name, library, _, message in SEEDS:
        if not any(f"Seed{name}.swift" in fault and message in fault for fault in found[library]):
            missed.append(f"{name}: no message with `{message}`")

    branch = package.copied(work / "seeds")
    (branch.folder / "Sources/Futures/SeedBranch.swift").write_text("#if os(Haiku)\n#endif\n")
    faults, _ = branches.check_branches(branch, [clean], pool, work)
    count += 1
    if not any("SeedBranch.swift:1" in fault for fault in faults):
        missed.append("branch: no message about `#if os(Haiku)`")

    for name, (source, message) in C_SEEDS.items():
        c = package.copied(work / "seeds")
        (c.folder / "Sources/CFutures/Seed.c").write_text(source + "\n")
        faults, _ = check_c(c, {"macOS": VERSION}, work)
        count += 1
        if not any(message in fault for fault in faults):
            missed.append(f"{name}: no message with `{message}`")

    (work / "seed.swift").write_text("func seedProgram(_ clock: SuspendingClock) {}\n")
    old = Check(package, macos, "10.15", work / "seed-products")
    old.run()
    count += 1
    if not any("'SuspendingClock' is only available" in fault for fault in programs.check_programs(old, package.folder, [work / "seed.swift"])):
        missed.append("program: no message about `SuspendingClock`")
    count += 1
    source = "#if os(Linux)\nimport Synchronization\n#else\ninternal import Synchronization\n#endif\n"
    if programs.imports(source) != [4]:
        missed.append("import: no message about Synchronization, or one about a branch of Linux")

    (work / "seed.swift").write_text(SYMBOL_SEEDS)
    output = Path(work / "seed.o")
    output.unlink(missing_ok=True)
    failure = symbols.compile_swift(macos, VERSION, [], output, [work / "seed.swift"], "Seed")
    faults = [failure] if failure else symbols.compare([output], macos, VERSION)[0]
    for name, message in SYMBOL_MESSAGES.items():
        count += 1
        if not any(message in fault for fault in faults):
            missed.append(f"{name}: no message with `{message}`, but {faults}")
    return missed, count
