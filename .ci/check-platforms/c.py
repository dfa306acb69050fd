"""Compiles the C targets for each platform, against headers of our own where the SDK is missing."""

from modules import PLATFORMS, STUBS, TOOLCHAIN, run
from package import C_TARGETS


def include_options(platform, package, target):
    system = STUBS / ("windows" if platform.name == "Windows" else "posix")
    # No headers of this machine, except the compiler's own.
    options = ["-nostdlibinc", "-isystem", system, "-I", package.folder / "Sources" / target / "include"]
    return options + (["-isystem", STUBS / "include"] if platform.is_apple else [])


def check_c(package, versions, work):
    """Returns the compiler's messages; warnings count as errors. `versions` has the lowest version of each platform."""
    faults, count = [], 0
    for name, version in versions.items():
        platform = PLATFORMS[name]
        for triple in platform.c_triples:
            triple = triple.format(version)
            for target in C_TARGETS:
                for source in package.sources(target):
                    output = work / f"{target}-{triple}.o"
                    result = run(
                        [
                            TOOLCHAIN / "bin/clang", "-c", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-target", triple,
                            *include_options(platform, package, target), source, "-o", output,
                        ]  # fmt: skip
                    )
                    count += 1
                    if result.returncode != 0:
                        faults.append(f"{target} for {triple}:\n{result.stdout[:2000]}")
    return faults, count
