"""The package: its floors, and its libraries with their sources and compiler settings."""

import json
import subprocess
from pathlib import Path

LIBRARIES = ["Futures", "FuturesAsync", "FuturesTesting", "FuturesFoundation"]  # each after the libraries that it imports
C_TARGETS = ["CFutures", "CFuturesTesting"]
# Settings of Package.swift, as options of the compiler. `None`: this check passes its own option.
OPTIONS = {
    "enableUpcomingFeature": "-enable-upcoming-feature",
    "enableExperimentalFeature": "-enable-experimental-feature",
    "treatAllWarnings": None,
    "treatWarning": None,
    "swiftLanguageMode": None,
}


class Package:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        # A scratch folder of its own: a build of the package would hold the lock of the usual one.
        command = ["swift", "package", "--package-path", self.folder, "--scratch-path", self.folder / ".build/check-platforms/manifest"]
        manifest = json.loads(subprocess.run([*command, "dump-package"], check=True, stdout=subprocess.PIPE).stdout)
        self.floors = {item["platformName"]: item["version"] for item in manifest["platforms"]}
        self.settings = {target["name"]: self.options(target) for target in manifest["targets"]}

    @staticmethod
    def options(target):
        options = []
        for setting in target["settings"]:
            ((kind, value),) = setting["kind"].items()
            if kind not in OPTIONS:
                raise SystemExit(f"The setting `{kind}` of the target {target['name']} is not known to .ci/check-platforms/package.py.")
            if OPTIONS[kind]:
                options += [OPTIONS[kind], value["_0"]]
        return options

    def sources(self, target):
        suffix = ".c" if target in C_TARGETS else ".swift"
        return sorted(path for path in (self.folder / "Sources" / target).rglob("*" + suffix))

    def include_options(self):
        return [option for target in C_TARGETS for option in ("-I", str(self.folder / "Sources" / target / "include"))]
