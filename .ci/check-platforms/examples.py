"""Type-checks the examples of the articles that only Apple platforms compile. `.ci/compile-examples` skips their branches on Linux."""

import re

from modules import FRONTEND, run
from swift import messages

BLOCK = re.compile(r"(?ms)^```swift\n(.*?)^```$")
# Marks the examples for Apple platforms: only these have the module `os`. `stubs` declares its names that the examples
# use.
BRANCH = "canImport(os)"


def check_examples(check, package, work, change=lambda text: text):
    """Returns the messages about the examples, and the number of examples. The self-test plants a fault through `change`."""
    folder = work / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    found, count = [], 0
    for article in sorted((package.folder / "Sources").glob("*/*.docc/**/*.md")):
        text = article.read_text()
        for block in BLOCK.finditer(text):
            if BRANCH not in block[1]:
                continue
            count += 1
            line = text.count("\n", 0, block.start(1)) + 1
            source = folder / f"{article.stem}{count}.swift"
            source.write_text(f"#sourceLocation(file: \"{article}\", line: {line})\n{change(block[1])}")
            # The settings of TestSupport, because they are also those of a user's target.
            found += messages(run([*FRONTEND, "-typecheck", "-warnings-as-errors", *check.options("TestSupport"), source]), package)
    if not count:
        found.append(f"No article has an example with `{BRANCH}`.")
    return found, count
