"""The mutants: small edits of the library, selected by a seed."""

import hashlib
import random
import re
from dataclasses import dataclass

MODULES = ("Futures", "FuturesAsync", "FuturesFoundation", "FuturesTesting")


@dataclass
class Mutant:
    file: str
    line: int  # counted from one
    old: str  # whole lines, or a part of one line
    new: str
    is_statement: bool
    number: int = 0

    @property
    def id(self):
        """The id depends on the file and the text of the line, and not on its position."""
        text = f"{self.file}|{self.old.strip()}|{self.new.strip()}"
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def __str__(self):
        def short(text):
            return " ⏎ ".join(line.strip() for line in text.splitlines())[:90] or "nothing"

        return f"{self.id} {self.file}:{self.line}: {short(self.old)} → {short(self.new)}"


def apply(text, mutants):
    """Puts the mutants into the text of a file, each behind its switch, from the last position to the first."""
    lines = text.split("\n")
    for mutant in sorted(mutants, key=lambda mutant: -mutant.line):
        index = mutant.line - 1
        if mutant.is_statement:
            count = len(mutant.old.split("\n"))
            indent = re.match(r" *", lines[index])[0]
            block = [f"{indent}if mutant({mutant.number}) {{"]
            block += mutant.new.split("\n") if mutant.new.strip() else []
            old = lines[index : index + count]
            block += [f"{indent}}} else {{"] + old + [f"{indent}}}"] if any(line.strip() for line in old) else [f"{indent}}}"]
            lines[index : index + count] = block
        else:
            assert mutant.old in lines[index], (mutant.file, mutant.line, mutant.old)
            lines[index] = lines[index].replace(mutant.old, f"(mutant({mutant.number}) ? ({mutant.new}) : ({mutant.old}))", 1)
    return "\n".join(lines)


def equivalent(root):
    """Returns the mutants without an observable effect: `id reason` in each line."""
    reasons = {}
    file = root / ".ci/mutants/equivalent.txt"
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.strip() and not line.startswith("#"):
            key, reason = line.split(maxsplit=1)
            reasons[key] = reason
    return reasons


def candidates(file, text):
    lines = text.split("\n")
    for index, line in enumerate(lines):
        number = index + 1
        code = line.split("//")[0].rstrip()
        stripped = code.strip()
        if not stripped or line.strip().startswith("//") or "precondition" in code or "#" in code:
            continue
        # A negated condition.
        if match := re.match(r"^ *(?:\} else )?if ([^,{]+) \{", code):
            if not re.search(r"\b(let|var|case|#available)\b", match[1]):
                yield Mutant(file, number, match[1], f"!({match[1]})", False)
        if match := re.match(r"^ *guard ([^,{]+) else \{", code):
            if not re.search(r"\b(let|var|case|#available)\b", match[1]):
                yield Mutant(file, number, match[1], f"!({match[1]})", False)
        # A dropped statement: one call on one line.
        if re.match(r"^[a-zA-Z_][\w.?!]*\([^{}]*\)$", stripped) and not re.match(r"^(return|init|super|self\.init|if|guard|case|assert|expect)", stripped):
            previous = next((p for p in reversed(lines[:index]) if p.strip()), "")
            following = next((p for p in lines[index + 1 :] if p.strip()), "")
            is_statement = previous.rstrip().endswith(("{", "}", ")")) and not previous.strip().startswith(".")
            # Not the only expression of a function or closure: that is its result.
            is_single = previous.rstrip().endswith("{") and following.strip().startswith("}")
            if is_statement and not is_single and not previous.rstrip().endswith(","):
                yield Mutant(file, number, line, "", True)
        # A dropped assignment.
        if re.match(r"^[a-z][\w.]* [-+]?= [^{]+$", stripped) and not re.search(r"\b(let|var|case)\b", stripped):
            if "init(" not in text or not inside_init(lines, index):
                yield Mutant(file, number, line, "", True)
        # A weaker ordering of memory.
        if match := re.search(r"[\w.$]+\.load\(ordering: \.acquiring\)", code):
            yield Mutant(file, number, match[0], match[0].replace("acquiring", "relaxed"), False)
        if re.match(r"^[\w.$]+\.store\(.*ordering: \.releasing\)$", stripped):
            yield Mutant(file, number, line, line.replace("ordering: .releasing", "ordering: .relaxed"), True)
        # Off by one.
        if match := re.search(r"([\w.]+) ([+-]) 1\b(?! *[.\w])", code):
            yield Mutant(file, number, match[0], match[1], False)
        # A comparison.
        if match := re.search(r"(?<![\w.)\]] )\b([\w.]+) (<=|<|>=|>) ([\w.]+)(?= \{| else|$|\))", code):
            other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[match[2]]
            if not match[1][0].isupper():
                yield Mutant(file, number, match[0], f"{match[1]} {other} {match[3]}", False)
        # An early return, at the start of a function without a result. With the semicolon, the next line is not its value.
        following = lines[index + 1] if index + 1 < len(lines) else ""
        is_plain = re.match(r"( *)[a-z][\w.?]*\([^{}]*\)$", following)  # declares nothing and opens no block
        if is_plain and re.match(r"^ *(?:@\w+ )*(?:[a-z@]+ )*func \w+(?:<[^>]*>)?\([^{}]*\) \{$", code):
            yield Mutant(file, number + 1, following, f"{is_plain[1]}return;\n{following}", True)
        # A constant result.
        if re.match(r"^ *(?:@\w+ )*(?:[a-z@]+ )*func \w+(?:<[^>]*>)?\([^{}]*\) -> Bool \{$", code):
            if following.strip().startswith("return ") and following.count("{") == following.count("}"):
                expression = following.strip()[7:]
                yield Mutant(file, number + 1, expression, f"!({expression})", False)


def inside_init(lines, index):
    for line in reversed(lines[:index]):
        if re.match(r"^ *(?:[@\w]+ )*(?:func \w|deinit|subscript|var .*\{$)", line):
            return False
        if re.match(r"^ *(?:[@\w]+ )*init[?<(]", line):
            return True
    return False


def generated(root, seed, count, folder):
    """Returns `count` mutants of the files in a folder, spread over them as evenly as their numbers of candidates allow."""
    source = random.Random(seed)
    by_file = []
    for module in MODULES:
        for path in sorted((root / "Sources" / module).rglob("*.swift")):
            file = str(path.relative_to(root))
            if not file.startswith(folder):
                continue
            seen, unique = set(), []
            for mutant in candidates(file, path.read_text()):
                if mutant.line not in seen:
                    seen.add(mutant.line)
                    unique.append(mutant)
            source.shuffle(unique)
            by_file.append(unique)
    selected = []
    while len(selected) < count and any(by_file):
        for group in by_file:
            if group and len(selected) < count:
                selected.append(group.pop())
    return selected
