"""Signals, deadlines, and a closed standard output."""
import os
import signal
import time

from harness import holds, ignore_interrupts, wait_for


def check_signals(demo):
    urls = [demo.url("/data.bin")] + [demo.url("/slow-%d" % i) for i in range(6)]
    for name, number, expected, setup in [
        ("Ctrl-C", signal.SIGINT, 130, None),
        ("Ctrl-C in the background", signal.SIGINT, 130, ignore_interrupts),
        ("SIGTERM", signal.SIGTERM, 143, None),
    ]:
        cwd = demo.folder()
        process = demo.start(urls, cwd, preexec_fn=setup)
        # data.bin has arrived, and its slot has the fourth slow file.
        wait_for(lambda: "data.bin" in os.listdir(cwd) and len([f for f in os.listdir(cwd) if f.endswith(".part")]) == 4)
        partial = len([f for f in os.listdir(cwd) if f.endswith(".part")])
        process.send_signal(number)
        began = time.monotonic()
        result = code, out, err = demo.finish(process)
        seconds = time.monotonic() - began
        demo.check("%s: exit code %d, at once" % (name, expected), code == expected and partial == 4 and seconds < 5,
                   (partial, seconds, result))
        demo.check("  finished files remain, partial files do not", os.listdir(cwd) == ["data.bin"]
                   and holds(cwd, "data.bin"), os.listdir(cwd))
        demo.check("  the lines and the summary show the cancelled files", sum(
            line.endswith("cancelled") for line in out.splitlines()) == 6 and
            out.splitlines()[-1] == "1 of 7 files arrived, 6 were cancelled.", out)


def check_deadline(demo):
    cwd = demo.folder()
    urls = [demo.url("/data.bin")] + [demo.url("/slow-%d" % i) for i in range(6)]
    result = code, out, err = demo.run(["--cancel-after", "3"] + urls, cwd)
    demo.check("--cancel-after: exit code 1, finished files remain", code == 1 and err == ""
               and os.listdir(cwd) == ["data.bin"] and holds(cwd, "data.bin"), (result, os.listdir(cwd)))
    demo.check("  the summary counts cancelled and finished files",
               out.splitlines()[-1] == "1 of 7 files arrived, 6 were cancelled.", out)
    demo.server.requests.clear()
    result = code, out, err = demo.run(["--cancel-after=0", demo.url("/data.bin")], demo.folder())
    demo.check("--cancel-after=0: the demo sends no request", code == 1 and demo.server.requests == [] and
               out.splitlines()[-1] == "0 of 1 file arrived, 1 was cancelled.", (result, demo.server.requests))
    result = code, out, err = demo.run(["--cancel-after=60", demo.url("/data.bin")], demo.folder())
    demo.check("--cancel-after: a deadline after the end changes nothing", code == 0 and
               out.splitlines()[-1] == "1 of 1 file arrived.", result)


def check_signal_in_the_tour(demo):
    for name, number, expected in [("Ctrl-C", signal.SIGINT, 130), ("SIGTERM", signal.SIGTERM, 143)]:
        for _ in range(3):  # the tour is short: it can end before the signal arrives
            process = demo.start([])
            wait_for(lambda: os.listdir(demo.temporary) != [] or process.poll() is not None)
            process.send_signal(number)
            result = code, out, err = demo.finish(process)
            if code != 0:
                break
        demo.check("%s in the tour: exit code %d, no temporary files remain" % (name, expected), code == expected
                   and os.listdir(demo.temporary) == [], (result, os.listdir(demo.temporary)))


def check_closed_output(demo):
    cwd = demo.folder()
    process = demo.start([demo.url("/busy-1"), demo.url("/busy-2")], cwd)
    process.stdout.close()
    code, err = process.wait(10), process.stderr.read().decode()
    demo.check("standard output closed: the files still arrive", code == 0 and len(os.listdir(cwd)) == 2, (code, err))
