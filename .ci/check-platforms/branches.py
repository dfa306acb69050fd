"""Proves that each conditional branch of the sources that depends on the platform is compiled by a check.

Writes `#error` into each branch of a copy, and type-checks the copy for each platform. A branch whose error no platform reports
is compiled by no check.
"""

import re

from modules import Platform
from package import LIBRARIES
from swift import Check

CONDITION = re.compile(r"\b(canImport|os|targetEnvironment)\(")
# Conditions that no check of this machine can satisfy, with the reason.
UNREACHABLE = {
    "os(WASI)": "no module of the toolchain is made for WASI",
    "compiler(>=6.4)": "needs a newer compiler",
}


def mark(package):
    """Writes `#error` into each branch of the package's sources. Returns the branches."""
    branches = {}
    for library in LIBRARIES:
        for path in package.sources(library):
            lines, depends, changed = path.read_text().splitlines(), [], False
            marked = []
            for number, line in enumerate(lines, 1):
                marked.append(line)
                directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*?)(//.*)?$", line)
                if not directive:
                    continue
                kind, condition = directive[1], directive[2].strip()
                if kind == "if":
                    depends.append(bool(CONDITION.search(condition)))
                elif kind == "elseif":
                    depends[-1] = depends[-1] or bool(CONDITION.search(condition))
                elif kind == "endif":
                    depends.pop()
                if kind != "endif" and depends[-1] and not any(part in condition for part in UNREACHABLE):
                    place = f"{path.relative_to(package.folder)}:{number}"
                    branches[place] = f"#{kind} {condition}".strip()
                    marked.append(f'#error("branch {place}")')
                    changed = True
            if changed:
                path.write_text("\n".join(marked) + "\n")
    return branches


class Host:
    """The modules of this machine's own system, in the place of `Modules`."""

    def __init__(self, work):
        self.platform = Platform("Linux", "", "", "", "", "")
        self.cache = work / "host-cache"

    def options(self, version):
        return ["-module-cache-path", self.cache]


def check_branches(package, checks, pool, work):
    """Returns the branches that no check compiles, and the number of all. `checks` have made their modules."""
    copy = package.copied(work / "branches")
    branches = mark(copy)
    host = Check(package, Host(work), "", work)
    host.run()
    libraries = [library for library in LIBRARIES if any(f"Sources/{library}/" in place for place in branches)]
    pairs = [(check, library) for check in [*checks, host] for library in libraries]
    reached = set()
    for found in pool.map(lambda pair: pair[0].type_check(pair[1], copy), pairs):
        reached.update(re.findall(r"branch (\S+:\d+)", "\n".join(found)))
    faults = [f"{place}: no check compiles the branch `{text}`" for place, text in branches.items() if place not in reached]
    return faults, len(branches)
