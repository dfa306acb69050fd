"""Type-checks the libraries for a platform at a version, and reads the compiler's messages."""

import os
import re
import shutil

from modules import FRONTEND, run
from package import LIBRARIES


class Check:
    """The libraries of a package for one platform at one version."""

    def __init__(self, package, modules, version, products):
        self.package, self.modules, self.version = package, modules, version
        self.products = products / f"{modules.platform.name}{version}-products"
        self.name = f"{modules.platform.name} {version}".strip()

    def options(self, library):
        return [
            *self.modules.options(self.version), "-swift-version", "6", "-package-name", "swift_futures", "-parse-as-library",
            *self.package.settings[library], "-I", self.products, *self.package.include_options(), "-module-name", library,
        ]  # fmt: skip

    def type_check(self, library):
        """Returns the messages of the compiler; warnings count as errors."""
        result = run([*FRONTEND, "-typecheck", "-warnings-as-errors", *self.options(library), *self.package.sources(library)])
        return messages(result, self.package)

    def emit_module(self, library):
        """Makes the module, whatever its errors, so that the libraries that import it are checked too."""
        self.products.mkdir(parents=True, exist_ok=True)
        return run(
            [
                *FRONTEND, "-emit-module", "-disable-availability-checking", "-experimental-skip-all-function-bodies",
                "-suppress-warnings", *self.options(library), "-o", self.products / f"{library}.swiftmodule",
                *self.package.sources(library),
            ]  # fmt: skip
        )

    def run(self):
        """Returns the messages about all libraries."""
        shutil.rmtree(self.products, ignore_errors=True)
        found = []
        emission = self.emit_module("Futures")  # the library that the others import
        for library in LIBRARIES:
            found += self.type_check(library)
        if emission.returncode != 0 and not found:
            found += messages(emission, self.package)
        return found


def messages(result, package):
    """Returns the errors in the output of a compiler, each once, with a path in the package."""
    found = []
    # No header of Android's C library is needed: its module is a stub.
    output = re.sub(r"(?m)^<unknown>:0: error: libc not found for .*$", "", result.stdout)
    for path, line, text in re.findall(r"(?m)^(?:(\S+?):(\d+):\d+|<unknown>:0): (?:fatal )?error: (.*)$", output):
        place = f"{os.path.relpath(path, package.folder)}:{line}: " if path else ""
        found.append(place + text)
    if result.returncode != 0 and not found and output == result.stdout:
        found.append(f"The compiler failed:\n{result.stdout[-2000:]}")
    return list(dict.fromkeys(found))
