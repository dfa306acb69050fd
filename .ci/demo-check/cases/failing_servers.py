"""Servers and disks that fail: each line has the reason, other files arrive, no partial file remains."""
import os
import signal

from harness import holds, line_of


def check_reasons(demo):
    cwd = demo.folder()
    bad = [
        ("refused.bin", demo.server.refused, "connection refused"),
        ("missing", demo.url("/missing"), "404"),
        ("broken", demo.url("/broken"), "500"),
        ("cut", demo.url("/cut"), "cut after 50,000 of 100,000 bytes"),
        ("reset", demo.url("/reset"), "cut after 50,000 of 100,000 bytes"),
        ("cut-chunk", demo.url("/cut-chunk"), "cut after 500 bytes"),
        ("no-answer", demo.url("/no-answer"), "no valid HTTP response"),
        ("garbage", demo.url("/garbage"), "no valid HTTP response"),
    ]
    result = code, out, err = demo.run([demo.url("/first.bin")] + [url for _, url, _ in bad] + [demo.url("/last.bin")], cwd)
    demo.check("failing servers: exit code 1, nothing on standard error", code == 1 and err == "", result)
    for name, _, reason in bad:
        line = line_of(out, name)
        demo.check("  %s: its line has the reason" % name, "failed: " in line and reason in line, out)
    demo.check("  other files arrive, and no partial file remains", sorted(os.listdir(cwd)) == ["first.bin", "last.bin"]
               and holds(cwd, "first.bin") and holds(cwd, "last.bin"), os.listdir(cwd))


def limit_file_size():
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


def check_full_disk(demo):
    cwd = demo.folder()
    result = code, out, err = demo.run([demo.url("/data.bin"), demo.url("/empty")], cwd, preexec_fn=limit_file_size)
    demo.check("no room for a file: its line has the reason, no partial file remains", code == 1 and "File too large" in
               line_of(out, "data.bin") and os.listdir(cwd) == ["empty"], (result, os.listdir(cwd)))
