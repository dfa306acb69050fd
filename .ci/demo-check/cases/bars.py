"""Progress bars in a terminal. The checks read the screen."""
import re
import time
import urllib.parse


def bar(name, amount, speed=r"\d+\.\d MB/s", left=r"(\d+:\d\d|--:--)"):
    return r"%s +\[#*-*\] +%s +%s +%s" % (re.escape(name), amount, speed, left)


def bars(*patterns):
    """Returns a condition: the screen shows the header, lines of finished files, and exactly these bars."""
    ended = r".+  (.*\d +\d+\.\d{3} +\d+\.\d|failed: .*|cancelled)"
    patterns = ["name +bytes +seconds +MB/s", ended, *patterns]

    def are_shown(screen):
        lines = screen.lines()[:-1]
        count = len(lines) - len(patterns) + 1
        expected = patterns[:1] + patterns[1:2] * count + patterns[2:]
        return count >= 0 and all(re.fullmatch(*both) for both in zip(expected, lines))
    return are_shown


def seen(session):
    screen = session.screen
    return "\n".join(screen.shown() + ["(unknown: %s, wraps: %d, redraws: %d)" % (
        screen.unknown, screen.wraps, screen.redraws)])


def speed_and_seconds_left(line):
    speed, _, left = line.split()[-3:]
    minutes, seconds = left.split(":")
    return float(speed), int(minutes) * 60 + int(seconds)


def plain(lines):
    """Returns the lines without the differences between two runs: times, and the order of the files."""
    lines = [re.sub(r" +", " ", re.sub(r"\d+\.\d+\b", "#", line)) for line in lines]
    return lines[:1] + sorted(lines[1:-1]) + lines[-1:]


def leaves_only(session, expected):
    """Returns whether the screen shows the lines of `expected`, and the cursor begins an empty row below them."""
    screen = session.screen
    return screen.unknown == [] and (screen.row, screen.column) == (len(screen.rows) - 1, 0) and \
        plain(screen.lines()[:-1]) == plain(expected)


def check_columns(demo):
    names = ["alpha.bin", "déjà vu.bin", "日本語の名前.bin", "e\u0301te\u0301.bin", "last.bin"]
    paths = ["/held/" + urllib.parse.quote(name) for name in names]
    urls = [demo.url(path) for path in paths]
    percents = ["25%", "50%", "75%", "1%", "30%"]
    full = [bar(*row) for row in zip(names[:4] + ["0 of 5 files"], percents)]
    for path, count in zip(paths, [25_000, 50_000, 75_999, 1_000]):
        demo.server.let_through(path, count)
    session = demo.show(["--output", demo.folder()] + urls)
    demo.check("bars: one for each running file, and one for the total", session.wait(bars(*full)), seen(session))
    shown = time.monotonic()
    with session.lock:
        rows = [row.cells for row in session.screen.rows[1:-1]]
    demo.check("  aligned columns for all characters in names", {row.index("[") for row in rows} == {18} and
               {len(row) for row in rows} == {79}, seen(session))
    for _ in range(2):  # until a redraw has begun, so the one before it is complete
        redraws, length = session.screen.redraws, len(session.output)
        session.wait(lambda screen: screen.redraws > redraws)
    demo.check("  a redraw is one write without line feeds", b"\n" not in session.output[length:], session.output[length:])
    for width, patterns in [
        (120, ["(?=.{85}$)" + full[0]] + full[1:]),
        (50, [r"%s +\[#*-*\] +%s +\d+\.\d MB/s" % row for row in zip(names[:4] + ["0 of 5 files"], percents)]),
        (40, [r"%s +\[#*-*\] +%s" % row for row in zip(names[:4] + ["0 of 5 files"], percents)]),
        (20, [r"%s +%s" % row for row in zip(names[:2] + ["日本語の名前.…", names[3], "0 of 5 files"], percents)]),
        (10, ["alp…  25%", "déj…  50%", "日…   75%", "e\u0301te\u0301…   1%", "0 o…  30%"]),
        (7, ["…  25%", "…  50%", "…  75%", "…   1%", "…  30%"]),
        (3, ["a…", "d…", "…", "e\u0301…", "0…"]),
        (1, ["", "", "", "", ""]),
        (80, full),
        (79, ["(?=.{78}$)" + full[0]] + full[1:]),
    ]:
        wraps, resized = session.screen.wraps, time.monotonic()
        session.resize(width, 24)
        lines = session.wait(bars(*patterns))
        demo.check("  %d columns wide: no line wraps, no old text remains" % width,
                   lines and session.screen.wraps == wraps, seen(session))
    if lines:
        (_, quarter), (_, half) = [speed_and_seconds_left(line) for line in lines[1:3]]
        demo.check("  time left: the remaining bytes at the average speed", 3 * half - 3 < quarter <= 3 * half and
                   resized - shown <= half < time.monotonic() - session.began + 1, (resized - shown, seen(session)))
    demo.server.let_through(paths[1], 100_000)
    demo.check("  a finished file: its line is above, its bar is gone, the next file begins", session.wait(bars(
        full[0], full[2], full[3], bar(names[4], "0 B"), bar("1 of 5 files", "40%"))), seen(session))
    for path in paths:
        demo.server.let_through(path, 100_000)
    code = session.finish()
    expected = demo.run(["--output", demo.folder()] + urls)[1].splitlines()
    demo.check("  at the end: only the table and the summary, as in a pipe", code == 0 and leaves_only(session, expected),
               (code, seen(session), expected))


def check_amounts(demo):
    demo.server.let_through("/unsized", 5_000)
    demo.server.let_through("/vast-100000000", 5_000_000)
    demo.server.let_through("/vast-1000000000", 50_000)
    paths = ["/vast-100000000", "/missing", "/unsized", "/vast-1000000000"]
    session = demo.show(["--output", demo.folder()] + [demo.url(path) for path in paths])
    lines = session.wait(bars(
        bar("vast-100000000", "5%", left=r"([1-9]\d*:\d\d|0:[1-5]\d)"), bar("unsized", "5,000 B", left="--:--"),
        bar("vast-1000000000", "0%", left=r"\d+:\d\d:\d\d"), bar("1 of 4 files", "26%")))
    demo.check("bars: bytes for an unknown length, hours for a long download, no bar for a failed file",
               lines and lines[1] == "missing          failed: the server answered 404 (Not Found)", seen(session))
    if lines:
        speed, left = speed_and_seconds_left(lines[2])  # 5 of 100 MB have arrived: the time so far is a 19th of the time left
        demo.check("  MB/s: the average", 5 * 19 / left - 0.05 <= speed <= 5 * 19 / (left - 1) + 0.05, seen(session))
    session.press(b"\x03")
    code = session.finish()
    demo.check("  Ctrl-C: exit code 130, and the screen is clean", code == 130 and leaves_only(session, [
        "name                      bytes    seconds      MB/s", "missing          failed: the server answered 404 (Not Found)",
        "unsized          cancelled", "vast-100000000   cancelled", "vast-1000000000  cancelled",
        "0 of 4 files arrived, 3 were cancelled."]), (code, seen(session)))


def check_unknown_size(demo):
    demo.server.let_through("/held/half", 50_000)
    demo.server.let_through("/vast-5000000", 5_000_000)
    urls = [demo.url("/held/half"), demo.url("/vast-5000000")]
    session = demo.show(["--output", demo.folder(), "--cancel-after=2"] + urls, has_size=False)
    lines = session.wait(bars(bar("half", "50%"), bar("1 of 2 files", "75%", left=r"0:0\d")))
    demo.check("bars: 80 columns if the terminal does not report its width", lines, seen(session))
    if lines:
        speed, left = speed_and_seconds_left(lines[3])  # 5.05 MB have arrived: the time so far is three times the time left
        demo.check("  MB/s of the total: includes finished files", speed >= 5.05 / 3 / left - 0.05, lines)
    code = session.finish()
    demo.check("  --cancel-after: exit code 1, and the screen is clean", code == 1 and leaves_only(session, [
        "name                   bytes    seconds      MB/s", "half          cancelled",
        "vast-5000000       5,000,000      0.100      50.0", "1 of 2 files arrived, 1 was cancelled."]), (code, seen(session)))


def check_small_terminals(demo):
    urls = [demo.url("/busy-1"), demo.url("/busy-2")]
    for width in [40, 20, 10, 3]:
        session = demo.show(["--output", demo.folder()] + urls, width=width)
        code = session.finish()
        expected = demo.run(["--output", demo.folder()] + urls)[1].splitlines()
        demo.check("a terminal of %d columns: the same text remains" % width, code == 0 and leaves_only(session, expected)
                   and session.screen.redraws > 0, seen(session))
    for height, count in [(6, 5), (5, 4), (4, 3), (2, 1), (1, 0)]:
        names = ["%d-of-%d" % (i, height) for i in range(4)]
        urls = [demo.url("/held/" + name) for name in names]
        session = demo.show(["--output", demo.folder()] + urls, height=height)
        expected = [bar(name, "0 B") for name in names[:max(count - 1, 0)]] + [bar("0 of 4 files", "0%")]
        passed = session.wait(bars(*expected[:count]))
        for name in names:
            demo.server.let_through("/held/" + name, 100_000)
        code = session.finish()
        expected = demo.run(["--output", demo.folder()] + urls)[1].splitlines()
        demo.check("a terminal of %d rows: %d bars, including the total" % (height, count), passed and code == 0
                   and session.screen.wraps == 0 and leaves_only(session, expected), seen(session))


def check_many_reports(demo):
    session = demo.show(["--output", demo.folder()] + [demo.url("/drip-%d" % i) for i in range(4)])
    code = session.finish()
    demo.check("many reports: the demo redraws the screen at most 20 times a second", code == 0 and session.screen.wraps == 0
               and 5 <= session.screen.redraws <= 20 * session.seconds + 1, (session.seconds, seen(session)))
    urls = [demo.url("/file-%d" % i) for i in range(300)]
    session = demo.show(["--output", demo.folder()] + urls, height=10)
    code = session.finish()
    expected = demo.run(["--output", demo.folder()] + urls)[1].splitlines()
    demo.check("many files: at most 20 redraws a second, and one line for each file", code == 0
               and session.screen.redraws <= 20 * session.seconds + 1 and leaves_only(session, expected),
               (session.seconds, seen(session)))


def check_no_bars(demo):
    for name, arguments, term in [("--no-progress", ["--no-progress"], "xterm"), ("TERM=dumb", [], "dumb")]:
        session = demo.show(["--output", demo.folder()] + arguments + [demo.url("/busy-1"), demo.url("/missing")], term)
        code = session.finish()
        demo.check("%s: no bars on a terminal" % name, code == 1 and b"\x1b" not in session.output and
                   session.output.count(b"\r") == session.output.count(b"\r\n") == 4, session.output)
    result = code, out, err = demo.run(["--output", demo.folder(), demo.url("/busy-1"), demo.url("/missing")])
    demo.check("a pipe: no bars", code == 1 and out.count("\n") == 4 and out.replace("\n", "").isprintable(), result)
    session = demo.show([])
    code = session.finish()
    demo.check("the tour on a terminal: the table remains", code == 0 and session.screen.redraws > 0 and leaves_only(
        session, demo.run([])[1].splitlines()), (code, seen(session)))
