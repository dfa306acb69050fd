"""A terminal for checks: runs a program in a pseudo-terminal, and keeps the text that a person would see on the screen.

It knows the control sequences that the demo writes. It records any other in `unknown`, which a check expects to be empty.
"""
import codecs, errno, fcntl, os, pty, re, signal, struct, subprocess, termios, threading, time, unicodedata


def columns_of(character):
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Row:
    def __init__(self, cells=(), goes_on=False):
        self.cells = list(cells)  # a wide character is followed by an empty cell
        self.goes_on = goes_on    # whether its text continues in the next row, because the terminal wrapped it

    def text(self):
        return "".join(self.cells).rstrip()


class Screen:
    """All rows so far; the last `height` of them are on the screen."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows, self.top, self.row, self.column = [Row()], 0, 0, 0
        self.is_full = False  # the last column is written: the next character goes to the next row
        self.wraps, self.redraws, self.unknown = 0, 0, []
        self.rest = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("strict")

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                command = re.compile(r"\x1b\[([?\d;]*)([a-zA-Z])").match(text, at)
                if not command and len(text) - at < 16:
                    break  # the rest of the sequence has not arrived
                if command:
                    self.obey(*command.groups())
                    at = command.end()
                    continue
            self.put(text[at])
            at += 1
        self.rest = text[at:]

    def obey(self, count, letter):
        if letter == "A" and count.isdigit() and int(count) > 0:
            self.row, self.is_full = max(self.top, self.row - int(count)), False
            self.redraws += 1
        elif letter == "B" and count == "":
            self.row, self.is_full = min(self.row + 1, self.top + self.height - 1, len(self.rows) - 1), False
        elif letter in "JK" and count == "":  # erases from the cursor, which is on the last column if the row is full
            if letter == "J" and (self.row, self.column) == (self.top, 0) and "".join(self.shown()):
                self.top = self.row = len(self.rows)  # when tmux erases the whole screen, it keeps the text in its history
                self.rows.append(Row())
            row = self.rows[self.row]
            row.cells = row.cells[:self.column]
            row.goes_on = row.goes_on and self.column > 0  # tmux forgets the wrap only for a whole row
            if letter == "J":
                del self.rows[self.row + 1:]
        else:
            self.unknown.append("CSI %s %s" % (count, letter))

    def put(self, character):
        if character == "\r":
            self.column, self.is_full = 0, False
        elif character == "\n":
            self.next_row()
        elif unicodedata.category(character) == "Cc":
            self.unknown.append(repr(character))
        else:
            self.print(character, columns_of(character))

    def print(self, character, width):
        row = self.rows[self.row]
        if width == 0:
            at = self.column if self.is_full else self.column - 1
            while at > 0 and row.cells[at] == "":
                at -= 1
            row.cells[at] += character
            return
        width = min(width, self.width)
        if self.is_full or self.column + width > self.width:
            row.goes_on = True
            self.wraps += 1
            self.column = 0
            self.next_row()
            row = self.rows[self.row]
        row.cells += [" "] * (self.column - len(row.cells))
        for edge in (self.column, self.column + width):  # erases the other half of a wide character that is cut
            if edge < len(row.cells) and row.cells[edge] == "":
                row.cells[edge - 1:edge + 1] = [" ", " "]
        row.cells[self.column:self.column + width] = [character] + [""] * (width - 1)
        self.column += width
        self.is_full = self.column >= self.width
        self.column = min(self.column, self.width - 1)

    def next_row(self):
        self.row, self.is_full = self.row + 1, False
        if self.row == len(self.rows):
            self.rows.append(Row())
        self.top = max(self.top, self.row - self.height + 1)

    def resize(self, width, height):
        """Wraps all text again, as most terminals do."""
        rows, lines = [], []
        for index, row in enumerate(self.rows):
            if index == 0 or not self.rows[index - 1].goes_on:
                lines.append([])
            if index == self.row:
                cursor = len(lines) - 1, len(lines[-1]) + self.column
            lines[-1] += row.cells
        for index, cells in enumerate(lines):
            begin = len(rows)
            while True:
                end = max(1, width - (len(cells) > width and cells[width] == ""))
                rows.append(Row(cells[:end], goes_on=len(cells) > end))
                cells = cells[end:]
                if not cells:
                    break
            if index == cursor[0]:
                self.row, self.column = min(begin + cursor[1] // width, len(rows) - 1), cursor[1] % width
        self.rows, self.width, self.height, self.is_full = rows, width, height, False
        self.top = max(0, len(rows) - height)

    def shown(self):
        """Returns the rows of the screen, without empty rows at the end."""
        texts = [row.text() for row in self.rows[self.top:]]
        while texts and not texts[-1]:
            texts.pop()
        return texts

    def lines(self):
        """Returns all text that is not erased, as whole lines: joins the rows that the terminal wrapped."""
        lines = [""]
        for row in self.rows:
            lines[-1] += "".join(row.cells)
            if not row.goes_on:
                lines.append("")
        return [line.rstrip() for line in lines[:-1]]


class Session:
    """A program in a terminal of its own. The terminal reports its size only if `has_size`."""

    def __init__(self, command, width=80, height=24, has_size=True, **options):
        self.screen, self.output, self.lock = Screen(width, height), b"", threading.Condition()
        self.began = time.monotonic()
        self.master, slave = pty.openpty()
        if has_size:
            self.set_size(slave)
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options)
        os.close(slave)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def set_size(self, terminal):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", self.screen.height, self.screen.width, 0, 0))

    def read(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError as error:
                if error.errno != errno.EIO:  # EIO: no process has the terminal open any more
                    raise
                data = b""
            if not data:
                return
            with self.lock:
                self.output += data
                self.screen.feed(data)
                self.lock.notify_all()

    def resize(self, width, height):
        """Changes the size while the program is stopped, after reading all of its output."""
        redraws = self.screen.redraws
        self.wait(lambda screen: screen.redraws > redraws, 0.15)  # right after a redraw, the next one is not near
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        length = -1
        while length != len(self.output):
            length = len(self.output)
            time.sleep(0.02)
        with self.lock:
            self.screen.resize(width, height)
            self.set_size(self.master)
        self.process.send_signal(signal.SIGCONT)

    def wait(self, condition, seconds=10):
        """Waits until `condition` holds, and returns the lines of the screen; an empty list after `seconds`."""
        with self.lock:
            return self.lock.wait_for(lambda: condition(self.screen) and self.screen.lines(), seconds) or []

    def press(self, keys):
        os.write(self.master, keys)

    def finish(self):
        """Waits until the program has ended, reads all of its output, and returns the exit code."""
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "killed: it had not ended after 20 s"
            self.process.wait()
        self.seconds = time.monotonic() - self.began
        self.reader.join(10)
        os.close(self.master)
        return code
