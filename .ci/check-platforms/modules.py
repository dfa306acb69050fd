"""Makes the modules that the libraries import, for platforms whose SDK is missing.

The toolchain for Linux has the standard library's interfaces as text, with the attributes `@available` of all platforms. This
file rewrites the target in them, and compiles them. What no toolchain for Linux has is in `stubs`. Dispatch is synthesized from
the installed module.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

STUBS = Path(__file__).parent / "stubs"
TOOLCHAIN = Path(os.path.realpath(shutil.which("swiftc") or "/usr/bin/swiftc")).parent.parent
FRONTEND = [str(TOOLCHAIN / "bin/swiftc"), "-frontend"]


def run(command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def number(version):
    """Returns a version that can be compared."""
    parts = [int(part) for part in version.split(".")]
    return tuple(parts + [0] * (3 - len(parts)))


@dataclass(frozen=True)
class Platform:
    name: str
    triple: str  # with the version at {}
    oldest: str  # the version that the modules are made for
    folder: str  # of the modules in the resources
    file: str  # the name of a module's file
    c_library: str
    c_triples: tuple = ()  # for the C targets

    @property
    def is_apple(self):
        return "apple" in self.triple


# Apple's platforms have 64 bits: the interface of Linux for x86_64 does not compile for arm64_32. They are simulators,
# except macOS: the compiler has no other triple of x86_64 for the others.
PLATFORMS = {
    platform.name: platform
    for platform in [
        Platform(
            "macOS", "x86_64-apple-macosx{}", "10.13", "macosx", "x86_64-apple-macos", "Darwin",
            ("arm64-apple-macosx{}", "x86_64-apple-macosx{}"),
        ),
        Platform(
            "iOS", "x86_64-apple-ios{}-simulator", "12.0", "iphonesimulator", "x86_64-apple-ios-simulator", "Darwin",
            ("arm64-apple-ios{}",),
        ),
        Platform(
            "tvOS", "x86_64-apple-tvos{}-simulator", "12.0", "appletvsimulator", "x86_64-apple-tvos-simulator", "Darwin",
            ("arm64-apple-tvos{}",),
        ),
        Platform(
            "watchOS", "x86_64-apple-watchos{}-simulator", "7.0", "watchsimulator", "x86_64-apple-watchos-simulator", "Darwin",
            ("arm64_32-apple-watchos{}",),
        ),
        Platform(
            "visionOS", "arm64-apple-xros{}-simulator", "1.0", "xrsimulator", "arm64-apple-xros-simulator", "Darwin",
            ("arm64-apple-xros{}",),
        ),
        Platform(
            "Android", "aarch64-unknown-linux-android{}", "28", "android", "aarch64-unknown-linux-android", "Android",
            ("aarch64-unknown-linux-android{}", "armv7-unknown-linux-androideabi{}"),
        ),
        Platform(
            "Windows", "x86_64-unknown-windows-msvc", "", "windows", "x86_64-unknown-windows-msvc", "ucrt",
            ("x86_64-unknown-windows-msvc",),
        ),
    ]
}
APPLE = [platform for platform in PLATFORMS.values() if platform.is_apple]
INTERFACES = ["Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing"]

# Declared by the standard library for Objective-C only; other interfaces name it.
OBJECTIVE_C_POINTER = """
@frozen public struct AutoreleasingUnsafeMutablePointer<Pointee> : Swift._Pointer {
  public let _rawValue: Builtin.RawPointer
  @_transparent public init(_ _rawValue: Builtin.RawPointer) { self._rawValue = _rawValue }
  public var pointee: Pointee { get nonmutating set }
}
"""


def interface_of_linux(module):
    folder = TOOLCHAIN / "lib/swift/linux" / f"{module}.swiftmodule"
    paths = [path for path in sorted(folder.glob("*.swiftinterface")) if ".private." not in path.name]
    if not paths:
        raise SystemExit(f"The toolchain in {TOOLCHAIN} has no interface of the module {module}.")
    return paths[0].read_text()


def newest_versions():
    """Returns the newest version of each Apple platform that an interface names."""
    newest = {}
    for module in INTERFACES:
        for attribute in re.findall(r"@available\(([^)]*)\)", interface_of_linux(module)):
            for name, version in re.findall(r"(macOS|iOS|tvOS|watchOS|visionOS) ([0-9.]+)", attribute):
                if not version.startswith("9999"):
                    newest[name] = max(newest.get(name, "0"), version, key=number)
    return newest


class Modules:
    """The modules for one platform, in a folder of their own."""

    def __init__(self, platform, work, with_bodies=False):
        """`with_bodies` keeps the inlinable functions, which only code generation needs."""
        self.platform = platform
        self.with_bodies = with_bodies
        self.root = Path(work).resolve() / platform.name
        self.sdk = self.root / "sdk"
        self.resources = self.root / "resources"
        self.made = ""  # identifies the modules that were made so far: each can depend on all earlier ones

    def target(self, version):
        return self.platform.triple.format(version)

    def options(self, version):
        return [
            "-target", self.target(version), "-sdk", self.sdk, "-resource-dir", self.resources,
            "-module-cache-path", self.root / "cache",
        ]  # fmt: skip

    def make(self):
        """Makes the modules that are missing or out of date."""
        self.resources.mkdir(parents=True, exist_ok=True)
        for name in ("shims", "clang"):
            if not (self.resources / name).exists():
                (self.resources / name).symlink_to(TOOLCHAIN / "lib/swift" / name)
        shutil.copytree(STUBS / "include", self.sdk / "usr/include", dirs_exist_ok=True)
        if not self.platform.is_apple:
            shutil.rmtree(self.sdk / "usr/include/objc")
        if self.platform.name == "visionOS":
            # Maps versions of iOS to versions of visionOS, as in Apple's SDK.
            shutil.copy(STUBS / "visionOS.json", self.sdk / "SDKSettings.json")
        self.compile("Swift", self.interface("Swift"), "-parse-stdlib")
        self.compile("SwiftOnoneSupport", self.interface("SwiftOnoneSupport"), "-parse-stdlib")
        self.compile(self.platform.c_library, self.stub("C", self.platform.c_library))
        for module in ("_Concurrency", "_StringProcessing"):
            self.compile(module, self.interface(module), "-parse-stdlib")
        self.compile("Dispatch", self.dispatch())
        networking = self.stub("FoundationNetworking", "FoundationNetworking")
        if self.platform.is_apple:
            declarations = networking.partition("#endif\n")[2]
            self.compile("Foundation", self.stub("Foundation", "Foundation") + declarations)
        else:
            self.compile("Foundation", self.stub("Foundation", "Foundation"))
            self.compile("FoundationNetworking", networking)
        return self

    def interface(self, module):
        """Returns the interface of Linux, for this platform."""
        text = interface_of_linux(module)
        text = re.sub(r"-target \S+", "-target " + self.target(self.platform.oldest), text, count=1).replace(" -O ", " -Onone ", 1)
        text = re.sub(r"(?m)^import Glibc$", f"import {self.platform.c_library}", text)
        # An interface without bodies cannot have `@backDeployed`. The attribute `@available` of each declaration stays.
        text = re.sub(r"(?m)^ *@backDeployed\(.*\)$", "", text)
        if self.platform.is_apple:
            text = text.replace(" -disable-objc-interop", "")
            if module == "Swift":
                text += OBJECTIVE_C_POINTER
        if module == "Swift" and not self.platform.triple.startswith("x86_64-apple"):
            # These functions need Float80, and the interface of x86_64 calls them in inlinable code.
            text = re.sub(r"_stdlib_(remainder|squareRoot)l\([^)]*\)", "Float80()", text)
        return text

    def header(self, module):
        compiler = re.search(r"(?m)^// swift-compiler-version:.*$", interface_of_linux("Swift"))[0]
        flags = f"-target {self.target(self.platform.oldest)} -enable-library-evolution -swift-version 5 -module-name {module}"
        if not self.platform.is_apple:
            flags += " -disable-objc-interop"
        return f"// swift-interface-format-version: 1.0\n{compiler}\n// swift-module-flags: {flags}\n"

    def stub(self, file, module):
        text = (STUBS / f"{file}.swiftinterface").read_text()
        if not self.platform.is_apple:
            text = re.sub(r"@objc (dynamic )?", "", text)
        return self.header(module) + text

    def dispatch(self):
        information = run([TOOLCHAIN / "bin/swiftc", "-print-target-info"]).stdout
        host = re.search(r'"triple"\s*:\s*"(\S+?)"', information)[1]
        tool = TOOLCHAIN / "bin/swift-synthesize-interface"
        text = run([tool, "-module-name", "Dispatch", "-target", host, "-sdk", "/"]).stdout
        text = re.sub(r"(?m)^import CDispatch$", "", text)
        text = text.replace("override public init()", "public init()")  # the superclass is in CDispatch
        return (
            self.header("Dispatch")
            + f"import Swift\nimport _Concurrency\nimport {self.platform.c_library}\n"
            + "public typealias dispatch_fd_t = Int32\npublic typealias dispatch_time_t = UInt64\n"
            + text
        )

    def compile(self, module, text, *options):
        """Compiles an interface, if it or the compiler has changed."""
        source = self.root / "interfaces" / f"{module}.swiftinterface"
        product = self.resources / self.platform.folder / f"{module}.swiftmodule" / f"{self.platform.file}.swiftmodule"
        stamp = self.root / f"{module}.stamp"
        for path in (source, product):
            path.parent.mkdir(parents=True, exist_ok=True)
        if not self.with_bodies:
            options += ("-experimental-skip-all-function-bodies",)
        command = [
            *FRONTEND, "-compile-module-from-interface", "-module-name", module, *self.options(self.platform.oldest), *options,
            "-disable-availability-checking", "-suppress-warnings", "-o", product, source,
        ]  # fmt: skip
        content = hashlib.sha256((text + " ".join(map(str, command)) + self.made).encode()).hexdigest()
        self.made = content
        if product.exists() and stamp.exists() and stamp.read_text() == content:
            return
        source.write_text(text)
        result = run(command)
        if result.returncode != 0:
            raise SystemExit(f"{self.platform.name}: the module {module} could not be made.\n{result.stdout[:4000]}")
        if self.with_bodies:
            self.describe(module, text, source)
        stamp.write_text(content)

    def describe(self, module, text, source):
        """Writes the exported symbols of an interface, each with the version of the system that introduced it."""
        result = run(
            [
                *FRONTEND, "-emit-module", "-module-name", module, *self.options(self.platform.oldest), *self.features(text),
                "-parse-as-library", "-enable-library-evolution", "-experimental-skip-all-function-bodies",
                "-disable-availability-checking", "-suppress-warnings", "-o", self.root / "described.swiftmodule",
                "-emit-api-descriptor-path", self.root / f"{module}.symbols.json", source,
            ]  # fmt: skip
        )
        if result.returncode != 0:
            raise SystemExit(f"{self.platform.name}: the symbols of {module} could not be listed.\n{result.stdout[:4000]}")

    @staticmethod
    def features(text):
        """Returns the options of an interface that the compiler does not take from its header in a source file."""
        words = shlex.split(re.search(r"(?m)^// swift-module-flags: (.*)$", text)[1])
        flags = [word for word in words if word in ("-enable-builtin-module", "-parse-stdlib")]
        for option, value in zip(words, words[1:]):
            if option.startswith("-enable-") and option.endswith("-feature"):
                flags += [option, value]
        return flags
