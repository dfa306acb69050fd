"""Lists the symbols that the libraries need from the system, and compares them with the floor.

A program does not load if one of its strong references is to a symbol that the system lacks. The compiler makes the reference
weak if the declaration is newer than the target. This check does not trust that: it reads the symbols in the object files.

The version that introduced a symbol comes from the attributes `@available` of the interfaces: for mangled names by the compiler's
own list of a module's symbols, for names in `@_silgen_name` and `@_extern(c)` from the text. What no interface declares is not
compared: the compiler chooses the functions of its runtime by the target, and the headers in `stubs` have old functions only.
"""

import json
import re
from pathlib import Path

from c import include_options
from modules import FRONTEND, TOOLCHAIN, number, run
from package import C_TARGETS, LIBRARIES

HERE = Path(__file__).parent
# Inlinable code of the libraries is compiled in their clients, specialised for the clients' types.
CLIENT = [HERE.parent / "clients" / name for name in ("ContractClient.swift", "EdgesClient.swift")]
# Variables of the runtime that CFuturesTesting looks for. Another version can have no such variable.
WEAK = {"swift_task_enqueueGlobal_hook": "99.0"}


def introduced_versions(modules):
    """Returns the version of macOS that introduced each symbol that an interface declares."""
    versions = dict(WEAK)
    for path in sorted(modules.root.glob("*.symbols.json")):
        for symbol in json.loads(path.read_text())["globals"]:
            versions[symbol["name"].removeprefix("_")] = symbol.get("introduced", "0")
    for path in sorted((modules.root / "interfaces").glob("*.swiftinterface")):
        versions.update(named_symbols(path.read_text()))
    return versions


def named_symbols(interface):
    """Returns the symbols that an interface names in the text, with the version of macOS in the attributes of the declaration."""
    versions = {}
    for attributes in re.findall(r"(?m)(?:^ *@.*\n)+", interface):
        found = re.findall(r"@available\(macOS ([0-9.]+)", attributes)
        for name in re.findall(r'@(?:_silgen_name\(|_extern\(c, )"(\w+)"\)', attributes):
            versions[name] = max(found, key=number, default="0")
    return versions


def compile_swift(modules, version, options, output, sources, name):
    """Compiles a module to an object file. Returns the compiler's output if it failed."""
    output.unlink(missing_ok=True)
    result = run(
        [
            *FRONTEND, "-c", "-O", "-wmo", "-suppress-warnings", "-parse-as-library", *modules.options(version), *options,
            "-module-name", name, "-o", output, *sources,
        ]  # fmt: skip
    )
    return f"{name} does not compile for {modules.target(version)}.\n{result.stdout[-3000:]}" if result.returncode != 0 else ""


def compile_objects(check):
    """Compiles the libraries, their C targets and a client. Returns the object files, or the compiler's output if it failed."""
    objects, client = [], ["-swift-version", "6", "-I", check.products, *check.package.include_options()]
    check.products.mkdir(parents=True, exist_ok=True)
    for name in [*LIBRARIES, "Client"]:
        output = check.products / f"{name}.o"
        options = client if name == "Client" else check.options(name)
        sources = CLIENT if name == "Client" else check.package.sources(name)
        options = [*options, "-emit-module-path", check.products / f"{name}.swiftmodule"]
        failure = compile_swift(check.modules, check.version, options, output, sources, name)
        if failure:
            return objects, failure
        objects.append(output)
    for name in C_TARGETS:
        for source in check.package.sources(name):
            output = check.products / f"{name}.{Path(source).stem}.o"
            target = check.modules.target(check.version)
            include = include_options(check.modules.platform, check.package, name)
            result = run([TOOLCHAIN / "bin/clang", "-c", "-O2", "-w", "-target", target, *include, source, "-o", output])
            if result.returncode != 0:
                return objects, f"{name} does not compile for {check.name}.\n{result.stdout[-3000:]}"
            objects.append(output)
    return objects, ""


def references(objects):
    """Returns the undefined symbols of object files: those of strong references, and those of weak ones only."""
    defined, strong, weak = set(), set(), set()
    for line in run([TOOLCHAIN / "bin/llvm-nm", "-m", *objects]).stdout.splitlines():
        match = re.match(r"[0-9a-f ]{16} \((.*?)\) (.*) _(\S+)$", line)
        if not match:
            continue
        if match[1] != "undefined":
            defined.add(match[3])
        elif "weak" in match[2]:
            weak.add(match[3])
        else:
            strong.add(match[3])
    return strong - defined, weak - defined - strong


def demangled(symbol):
    text = run([TOOLCHAIN / "bin/swift-demangle", "-compact", symbol]).stdout.strip() if symbol.startswith("$") else ""
    return f"{symbol} ({text})" if text else symbol


def check_symbols(check):
    """Returns the strong references that a system of the version cannot satisfy, the number of all, and the weak ones."""
    objects, failure = compile_objects(check)
    if failure:
        return [failure], 0, []
    strong, weak = references(objects)
    versions, faults = introduced_versions(check.modules), []
    for symbol in sorted(strong & versions.keys()):
        if number(versions[symbol]) > number(check.version):
            faults.append(
                f"{demangled(symbol)} exists from macOS {versions[symbol]} on, and the reference is strong:"
                f" a program for macOS {check.version} does not start on older systems."
            )
    return faults, len(strong), sorted(weak)
