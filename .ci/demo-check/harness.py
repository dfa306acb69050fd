"""Runs the demo in new folders, and reports the checks."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unicodedata

from server import BODY, Server
from terminal import Session


class Demo:
    """The program to check, its server, and a folder for all files that it writes."""

    def __init__(self, program):
        self.program, self.server, self.failures = program, Server(), 0
        self.work = tempfile.mkdtemp(prefix="demo-check-")
        self.temporary = os.path.join(self.work, "tmp")  # the demo's own temporary folder
        os.mkdir(self.temporary)
        self._environment = dict(os.environ, TMPDIR=self.temporary)
        self._folders = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.work)

    def check(self, name, passed, detail=""):
        """Reports a check. Prints `detail` if it failed."""
        print(("ok      " if passed else "FAILED  ") + name, flush=True)
        if not passed:
            self.failures += 1
            print("        " + str(detail).replace("\n", "\n        "), flush=True)

    def folder(self):
        """Returns a new, empty folder. Its name contains a space."""
        self._folders += 1
        path = os.path.join(self.work, "folder %d" % self._folders)
        os.mkdir(path)
        return path

    def start(self, arguments, cwd=None, **options):
        return subprocess.Popen(
            [self.program] + arguments, cwd=cwd or self.work, env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def finish(self, process):
        """Returns the exit code and both outputs. Kills the process after 20 s."""
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += b"(killed: it had not ended after 20 s)"
        return process.returncode, out.decode(), err.decode()

    def run(self, arguments, cwd=None, **options):
        return self.finish(self.start(arguments, cwd, **options))

    def url(self, path):
        """Returns the URL of `path` on the server."""
        return self.server.base + path

    def show(self, arguments, term="xterm", **size):
        """Starts the demo in a pseudo-terminal."""
        return Session([self.program] + arguments, cwd=self.work, env=dict(self._environment, TERM=term), **size)


def holds(path, name, content=BODY):
    """Returns whether the folder `path` has a file with that name and content."""
    file = os.path.join(path, name)
    return os.path.isfile(file) and open(file, "rb").read() == content


def line_of(out, name):
    """Returns the table's line for the file `name`."""
    return next((line for line in out.splitlines() if line.split("  ")[0] == name), "")


def is_harmless(text):
    """Returns whether `text` has no control or format character except the line feed."""
    return not any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in text if character != "\n")


def wait_for(condition):
    """Waits until `condition` holds, at most 20 s."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)


def ignore_interrupts():
    """Ignores Ctrl-C, as a shell does for background programs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
