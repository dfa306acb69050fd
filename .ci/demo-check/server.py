"""An HTTP server on the loopback interface. The path of a request selects the server's behaviour."""
import gzip
import socket
import struct
import threading
import time

BODY = bytes(i * 7 % 251 for i in range(100_000))


class Server:
    """Answers each connection on its own thread, with one response.

    `requests` lists the requested paths. `most_busy` is the largest number of simultaneous connections. A case can reset both.
    """

    def __init__(self):
        self.requests, self.most_busy = [], 0
        self._busy, self._lock = 0, threading.Lock()
        self._allowed, self._gate = {}, threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        closed = socket.create_server(("127.0.0.1", 0))
        self.refused = "http://127.0.0.1:%d/refused.bin" % closed.getsockname()[1]
        closed.close()
        threading.Thread(target=self._accept, daemon=True).start()

    def let_through(self, path, count):
        """Sends the first `count` bytes of a held file, and then waits for the next call."""
        with self._gate:
            self._allowed[path] = count
            self._gate.notify_all()

    def _hold(self, connection, path, length):
        sent = 0
        while sent < length:
            with self._gate:
                if not self._gate.wait_for(lambda: self._allowed.get(path, 0) > sent, 60):
                    return
                count = self._allowed[path]
            connection.sendall((BODY * (count // len(BODY) + 1))[sent:count])
            sent = count

    def _accept(self):
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with self._lock:
            self._busy += 1
            self.most_busy = max(self.most_busy, self._busy)
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            path = head.split()[1].decode()
            with self._lock:
                self.requests.append(path)
            self._answer(connection, path)
        except OSError:
            pass
        finally:
            with self._lock:
                self._busy -= 1
            connection.close()

    def _answer(self, connection, path):
        def send(head, body=b""):
            connection.sendall(b"HTTP/1.1 " + head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body)

        length = b"200 OK\nContent-Length: 100000"
        if path.startswith("/slow"):
            send(length, BODY[:5000])
            connection.settimeout(20)
            connection.recv(1)  # until the client closes the connection
        elif path.startswith("/held"):
            send(length)
            self._hold(connection, path, 100_000)
        elif path.startswith("/unsized"):
            send(b"200 OK")
            self._hold(connection, path, 100_000)
        elif path.startswith("/vast"):
            send(b"200 OK\nContent-Length: " + path.split("-")[1].encode())
            self._hold(connection, path, int(path.split("-")[1]))
        elif path.startswith("/drip"):
            send(length)
            for at in range(0, 100_000, 100):
                connection.sendall(BODY[at:at + 100])
                time.sleep(0.002)
        elif path.startswith("/busy"):
            time.sleep(0.15)
            send(length, BODY)
        elif path == "/cut":
            send(length, BODY[:50_000])
        elif path == "/reset":
            send(length, BODY[:50_000])
            time.sleep(0.2)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif path == "/cut-chunk":
            send(b"200 OK\nTransfer-Encoding: chunked", b"2000\r\n" + BODY[:500])
        elif path == "/no-answer":
            pass
        elif path == "/garbage":
            connection.sendall(b"good morning\r\n\r\n")
        elif path == "/missing":
            send(b"404 Not Found\nContent-Length: 9", b"not here\n")
        elif path == "/broken":
            send(b"500 Internal Server Error\nContent-Length: 0")
        elif path == "/empty":
            send(b"200 OK\nContent-Length: 0")
        elif path == "/moved":
            send(b"302 Found\nLocation: /data.bin\nContent-Length: 0")
        elif path == "/no-length":
            send(b"200 OK", BODY)
        elif path == "/packed":
            body = gzip.compress(BODY)
            send(b"200 OK\nContent-Encoding: gzip\nContent-Length: %d" % len(body), body)
        else:
            send(length, BODY)
