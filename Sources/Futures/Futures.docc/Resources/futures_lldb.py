"""Summaries of futures and promises for LLDB.

(lldb) command script import PATH/futures_lldb.py

A future is shown as "pending, 2 consumers", "resolved", or "succeeded" if it was made with a value. `frame variable --raw` shows the
variables. The command `futures` writes everything that is pending.
"""
import lldb

# `FutureState.Phase`: pending, following, orphaned, broken, delivering, closing, resolved. A test compares the names.
PHASES = ["pending", "following another future", "pending without a producer", "broken", "resolved, runs its callbacks",
          "resolved, runs its callbacks", "resolved"]
# The offset of `Consumer.next`, the first variable of an object.
NEXT = 16


def child(value, *names):
    for name in names:
        value = value.GetChildMemberWithName(name)
        if not value.IsValid():
            return value
    return value


def find(value, name, depth=6):
    """The variable `name` of an object or of its base classes."""
    found = value.GetChildMemberWithName(name)
    if found.IsValid() or depth == 0 or value.GetNumChildren() == 0:
        return found
    return find(value.GetChildAtIndex(0), name, depth - 1)


def consumers(state, process):
    """The number of consumers in the list of a state, at most 1,000."""
    field = find(state, "consumers")
    if not field.IsValid():
        return None
    error = lldb.SBError()
    first = process.ReadPointerFromMemory(field.GetLoadAddress(), error)
    count, next_ = 0, first
    while error.Success() and next_ > 4096 and count < 1000:
        count += 1
        next_ = process.ReadPointerFromMemory(next_ + NEXT, error)
        if next_ == first:
            break
    return count


def describe(state):
    process = state.GetProcess()
    field = find(state, "phase")
    if not field.IsValid():
        return "pending or resolved"
    error = lldb.SBError()
    byte = process.ReadUnsignedFromMemory(field.GetLoadAddress(), 1, error)
    if error.Fail() or byte >= len(PHASES):
        return "pending or resolved"
    text = PHASES[byte]
    if byte < 3:
        count = consumers(state, process)
        if count is not None:
            text += f", {count} consumer{'' if count == 1 else 's'}"
    return text


def future(value, _):
    storage = child(value.GetNonSyntheticValue(), "storage")
    storage.SetPreferSyntheticValue(True)  # only the synthetic value of an enumeration has the payload
    case = storage.GetValue() or ""
    if case == "sharedState":
        return describe(storage.GetChildMemberWithName(case))
    return case or "resolved"


def promise(value, _):
    return describe(find(value.GetNonSyntheticValue(), "state"))


def dump(debugger, command, result, _):
    debugger.HandleCommand("expression -l c -- extern void futures_dump(void); futures_dump()")


def __lldb_init_module(debugger, _):
    add = "type summary add --python-function futures_lldb."
    debugger.HandleCommand(add + r'future --regex "^Futures\.Future<.+>$"')
    debugger.HandleCommand(add + r'promise --regex "^Futures\.Promise<.+>$"')
    debugger.HandleCommand("command script add -o -f futures_lldb.dump futures")
