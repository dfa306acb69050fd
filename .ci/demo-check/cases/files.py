"""Successful downloads."""
import os
import urllib.parse

from harness import holds, is_harmless


def check_names(demo):
    cwd = demo.folder()
    paths = ["/a/data.bin", "/b/data.bin", "/data.bin?version=2", "/", "/..%2F..%2Fevil", "/empty", "/moved", "/no-length",
             "/packed", "/d%C3%A9j%C3%A0%20vu.tar.gz"]
    result = code, out, err = demo.run([demo.url(path) for path in paths], cwd)
    demo.check("ten files to the current folder: exit code 0", code == 0 and err == "", result)
    names = ["data.bin", "data-2.bin", "data-3.bin", "index.html", ".._.._evil", "moved", "no-length", "packed",
             "déjà vu.tar.gz"]
    demo.check("  each has its bytes, and a distinct name", all(holds(cwd, name) for name in names)
               and holds(cwd, "empty", b"") and len(os.listdir(cwd)) == 10
               and not os.path.exists(os.path.join(demo.work, "evil")), os.listdir(cwd))


def check_harmful_names(demo):
    """Characters that reverse the direction of text disguise a name: "cod.\\u202egpj.exe" looks like "cod.exe.jpg"."""
    harmful = [
        "\x01", "\x1b", "\x7f", "\u0085", "\u009b", "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a",
        "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\U000e0041",
    ]
    cwd = demo.folder()
    urls = [demo.url("/%d%sgpj.exe" % (index, urllib.parse.quote(character))) for index, character in enumerate(harmful)]
    result = code, out, err = demo.run(urls, cwd)
    names = ["%d_gpj.exe" % index for index in range(len(harmful))]
    demo.check("control and format characters in names: each becomes _", code == 0 and sorted(os.listdir(cwd)) == sorted(names)
               and is_harmless(out) and err == "", (result, os.listdir(cwd)))


def check_earlier_files(demo):
    cwd = demo.folder()
    for name in ["data.bin", "other.bin.part"]:
        open(os.path.join(cwd, name), "w").write("mine")
    urls = [demo.url("/data.bin"), demo.url("/other.bin"), demo.url("/a.part"), demo.url("/a")]
    result = code, out, err = demo.run(["--output", cwd] + urls)
    demo.check("--output: exit code 0, existing files do not change", code == 0 and holds(cwd, "data.bin", b"mine")
               and holds(cwd, "other.bin.part", b"mine") and holds(cwd, "data-2.bin") and holds(cwd, "other-2.bin"), result)
    demo.check("  even if one name is the partial file of another", len(os.listdir(cwd)) == 6, os.listdir(cwd))


def check_limit(demo):
    demo.server.most_busy = 0
    cwd = demo.folder()
    result = code, out, err = demo.run(["--output=" + cwd] + [demo.url("/busy-%d" % i) for i in range(10)])
    demo.check("ten files: never more than four at once", code == 0 and demo.server.most_busy == 4 and len(os.listdir(cwd)) == 10,
               (demo.server.most_busy, result))
