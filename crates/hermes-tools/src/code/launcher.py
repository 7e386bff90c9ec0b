# Runs one script: a child process with pipes for what it prints and a socket for its tool calls. Everything goes over
# this program's own input and output in frames: four bytes of length (the kind counts), one byte of kind, the body.
# To the other side: H is there, O and E output, C a call, X the end, F could not start. From it: S start, R an answer.
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

PIECE = 1 << 16
# After the script's end its pipes are emptied, but not for ever: something may go on writing into them.
LAST_PIECES = 64


def send(kind, body):
    data = memoryview(struct.pack(">IB", len(body) + 1, ord(kind)) + body)
    while data:
        data = data[os.write(1, data):]


def send_json(kind, value):
    send(kind, json.dumps(value).encode())


def read_exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def take_frames(buffer):
    """Removes whole frames from the front of a buffer."""
    frames = []
    while len(buffer) >= 4:
        (length,) = struct.unpack_from(">I", buffer)
        if len(buffer) < 4 + length:
            break
        frames.append(bytes(buffer[4:4 + length]))
        del buffer[:4 + length]
    return frames


def scrubbed(environment, rules):
    """Variables a script may see: named ones, then those of known kinds that do not look like secrets."""
    kept = {}
    for name, value in environment.items():
        upper = name.upper()
        if name in rules["passthrough"] or name in rules["names"]:
            kept[name] = value
        elif any(word in upper for word in rules["secret_words"]):
            continue
        elif any(name.startswith(prefix) for prefix in rules["prefixes"]):
            kept[name] = value
    if environment.get("HERMES_TIMEZONE"):
        kept["TZ"] = environment["HERMES_TIMEZONE"]
    kept.update(PYTHONDONTWRITEBYTECODE="1", PYTHONIOENCODING="utf-8", PYTHONUTF8="1")
    return kept


class Script:
    def __init__(self, start):
        self.directory = tempfile.mkdtemp(prefix="hermes_sandbox_")
        self.child = None
        self.calls = bytearray()
        self.answers = bytearray()
        self.from_host = bytearray()
        self.selector = selectors.DefaultSelector()
        self.start(start)

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return path

    def start(self, start):
        self.write("hermes_tools.py", start["module"] + "\n_define(%r)\n" % (start["tools"],))
        script = self.write("script.py", start["code"])
        here = os.getcwd()
        strict = start["mode"] != "project"
        self.socket, theirs = socket.socketpair()
        environment = scrubbed(os.environ, start["environment"])
        path = [self.directory] if strict else [self.directory, here]
        path += [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
        environment.update(PYTHONPATH=os.pathsep.join(path), HERMES_TOOLS_FD=str(theirs.fileno()))
        self.wakeup, wakes = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes)
        self.child = subprocess.Popen(
            [sys.executable, "-u", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=self.directory if strict else here,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.socket.setblocking(False)
        for pipe in (0, self.child.stdout.fileno(), self.child.stderr.fileno()):
            os.set_blocking(pipe, False)
        self.watch(0, self.read_host)
        self.watch(self.child.stdout.fileno(), lambda: self.read_pipe(self.child.stdout.fileno(), "O"))
        self.watch(self.child.stderr.fileno(), lambda: self.read_pipe(self.child.stderr.fileno(), "E"))
        self.watch(self.wakeup, self.read_wakeup)
        self.selector.register(self.socket, selectors.EVENT_READ, self.serve_socket)

    def watch(self, source, action):
        self.selector.register(source, selectors.EVENT_READ, action)

    def run(self):
        while self.child.poll() is None:
            for key, _ in self.selector.select():
                key.data()
        for pipe, kind in ((self.child.stdout, "O"), (self.child.stderr, "E")):
            for _ in range(LAST_PIECES):
                if not self.read_pipe(pipe.fileno(), kind):
                    break
        code = self.child.returncode
        send_json("X", {"code": code if code >= 0 else 128 - code})

    def read_pipe(self, pipe, kind):
        try:
            piece = os.read(pipe, PIECE)
        except BlockingIOError:
            return False
        if piece:
            send(kind, piece)
        elif pipe in self.selector.get_map():
            self.selector.unregister(pipe)
        return bool(piece)

    def read_wakeup(self):
        try:
            os.read(self.wakeup, PIECE)
        except BlockingIOError:
            pass

    def read_host(self):
        try:
            piece = os.read(0, PIECE)
        except BlockingIOError:
            return
        if not piece:
            sys.exit(0)
        self.from_host += piece
        for frame in take_frames(self.from_host):
            if frame[:1] == b"R":
                self.answers += struct.pack(">I", len(frame) - 1) + frame[1:]
        self.serve_socket()

    def serve_socket(self):
        """Takes calls from the script and gives it answers, as far as both are ready."""
        try:
            while True:
                piece = self.socket.recv(PIECE)
                if not piece:
                    raise OSError("closed")
                self.calls += piece
        except BlockingIOError:
            pass
        except OSError:
            if self.socket.fileno() in self.selector.get_map():
                self.selector.unregister(self.socket)
            return
        for frame in take_frames(self.calls):
            send("C", frame)
        try:
            while self.answers:
                del self.answers[:self.socket.send(self.answers[:PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            self.answers.clear()
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.answers else 0)
        self.selector.modify(self.socket, wanted, self.serve_socket)

    def close(self):
        if self.child is not None:
            try:
                os.killpg(self.child.pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if sys.version_info < (3, 8):
        send("F", ("Python 3.8 or newer is needed, and this is %d.%d" % sys.version_info[:2]).encode())
        return
    send("H", b"")
    (length,) = struct.unpack(">I", read_exactly(4))
    start = json.loads(read_exactly(length)[1:].decode())
    script = None
    try:
        script = Script(start)
        script.run()
    except OSError as error:
        send("F", str(error).encode("utf-8", "replace"))
    finally:
        if script is not None:
            script.close()


main()
