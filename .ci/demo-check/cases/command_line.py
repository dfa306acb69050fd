"""Invalid command lines, and `--help`."""
import os

from harness import is_harmless


def check_help(demo):
    code, out, err = demo.run(["--help"])
    demo.check("--help: exit code 0, text on standard output", code == 0 and "--output DIR" in out and err == "",
               (code, out, err))


def check_bad_input(demo):
    a_file = os.path.join(demo.work, "a-file")
    open(a_file, "w").close()
    for name, text, arguments in [
        ("no URL", "foo", ["foo"]),
        ("empty argument", "not an http", [""]),
        ("another scheme", "ftp://", ["ftp://127.0.0.1/x"]),
        ("no host", "http:///x", ["http:///x"]),
        ("an invalid port", "99999", ["http://127.0.0.1:99999/x"]),
        ("a bad URL after a good one", "foo", [demo.url("/data.bin"), "foo"]),
        ("unknown option", "--frobnicate", ["--frobnicate"]),
        ("unknown short option", "-x", ["-x", demo.url("/data.bin")]),
        ("--output without a value", "--output", [demo.url("/data.bin"), "--output"]),
        ("--output with an empty value", "--output", ["--output=", demo.url("/data.bin")]),
        ("--output before an option", "--output", ["--output", "--help"]),
        ("--cancel-after without a value", "--cancel-after", [demo.url("/data.bin"), "--cancel-after"]),
        ("--cancel-after with a word", "--cancel-after", ["--cancel-after=soon", demo.url("/data.bin")]),
        ("--cancel-after with a negative number", "--cancel-after", ["--cancel-after=-1", demo.url("/data.bin")]),
        ("--cancel-after with no number", "--cancel-after", ["--cancel-after=nan", demo.url("/data.bin")]),
        ("--output without URLs", "--output", ["--output", demo.work]),
        ("output folder that does not exist", "nowhere", ["--output", "nowhere", demo.url("/data.bin")]),
        ("output folder that is a file", "a-file", ["--output", a_file, demo.url("/data.bin")]),
        ("harmful characters in a URL", "“__gpj_exe”", ["\u202e\u2066gpj\x1bexe"]),
        ("harmful characters in an option", "--_gpj_exe", ["--\u202egpj\x9bexe"]),
    ]:
        cwd = demo.folder()
        result = code, out, err = demo.run(arguments, cwd)
        good = code == 2 and out == "" and err.count("\n") == 1 and err.endswith(".\n") and text in err and is_harmless(err)
        demo.check("bad input: %s: exit code 2 and one sentence" % name, good and os.listdir(cwd) == [], result)
