# Runs one script: a child process with pipes for what it prints and a socket for its tool calls. Everything goes over
# this program's own input and output in frames: four bytes of length (the kind counts), one byte of kind, the body.
# To the other side: H is there, D its directory, O and E output, G bytes of output left out here, C a call, B what is no
# call, X the end, F could not start. From it: S start, R an answer.
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
# Of each output so much is passed on as it comes. What follows is held back, and only its end passed on at the end: the
# other side shows far less, and a script that prints without end must not keep it busy.
FIRST_BYTES = 1 << 18
LAST_BYTES = 1 << 17
# A longer call is no call.
LONGEST_CALL = 16 << 20
# While so much waits for a script that does not read its answers, no more calls are taken from it.
MOST_ANSWERS = 1 << 20


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


class Output:
    """What the script prints to one of its pipes: the beginning at once, the end at the end."""

    def __init__(self, kind, last):
        self.kind = kind
        self.last = last
        self.sent = 0
        self.held = bytearray()
        self.dropped = 0

    def take(self, piece):
        if self.sent < FIRST_BYTES:
            self.sent += len(piece)
            send(self.kind, piece)
            return
        self.held += piece
        # Cut now and then, not for each piece.
        if len(self.held) > 2 * self.last:
            self.drop(len(self.held) - self.last)

    def drop(self, count):
        self.dropped += count
        del self.held[:count]

    def finish(self):
        if self.dropped:
            # Half a line may be half a secret, which nobody would recognise.
            self.drop(self.held.find(b"\n") + 1)
            send_json("G", {"kind": self.kind, "bytes": self.dropped})
        while self.held:
            send(self.kind, bytes(self.held[:PIECE]))
            del self.held[:PIECE]


class Script:
    def __init__(self):
        self.asked_to_end = False
        signal.signal(signal.SIGTERM, self.ask_to_end)
        self.child = None
        self.printed = Output("O", LAST_BYTES)
        # Of complaints only the beginning is shown.
        self.complaints = Output("E", 0)
        self.calls = bytearray()
        self.answers = bytearray()
        self.from_host = bytearray()
        self.selector = selectors.DefaultSelector()
        self.directory = tempfile.mkdtemp(prefix="hermes_sandbox_")
        send_json("D", {"directory": self.directory})

    def ask_to_end(self, *_):
        # Not an exception: it could come in the middle of a frame.
        self.asked_to_end = True

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
        environment = dict(os.environ)
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
        self.watch(self.child.stdout.fileno(), lambda: self.read_pipe(self.child.stdout.fileno(), self.printed))
        self.watch(self.child.stderr.fileno(), lambda: self.read_pipe(self.child.stderr.fileno(), self.complaints))
        self.watch(self.wakeup, self.read_wakeup)
        self.selector.register(self.socket, selectors.EVENT_READ, self.serve_socket)

    def watch(self, source, action):
        self.selector.register(source, selectors.EVENT_READ, action)

    def run(self):
        """Until the script ends, or is to be ended: its code in the first case."""
        while self.child.poll() is None:
            if self.asked_to_end:
                return None
            for key, _ in self.selector.select():
                key.data()
        for pipe, output in ((self.child.stdout, self.printed), (self.child.stderr, self.complaints)):
            for _ in range(LAST_PIECES):
                if not self.read_pipe(pipe.fileno(), output):
                    break
        code = self.child.returncode
        return code if code >= 0 else 128 - code

    def read_pipe(self, pipe, output):
        try:
            piece = os.read(pipe, PIECE)
        except BlockingIOError:
            return False
        if piece:
            output.take(piece)
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
            if len(self.answers) < MOST_ANSWERS:
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
        if len(self.calls) >= 4 and struct.unpack_from(">I", self.calls)[0] > LONGEST_CALL:
            send("B", b"it is longer than %d bytes" % LONGEST_CALL)
            self.calls.clear()
        try:
            while self.answers:
                del self.answers[:self.socket.send(self.answers[:PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            self.answers.clear()
        wanted = selectors.EVENT_WRITE if self.answers else 0
        if len(self.answers) < MOST_ANSWERS:
            wanted |= selectors.EVENT_READ
        if self.socket.fileno() in self.selector.get_map():
            self.selector.modify(self.socket, wanted, self.serve_socket)

    def close(self):
        """Ends the script, passes on the last it printed, and leaves nothing behind."""
        if self.child is not None:
            try:
                os.killpg(self.child.pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.directory, ignore_errors=True)
        self.printed.finish()
        self.complaints.finish()


def wait_for_the_end(script):
    """The other side ends everything below it, this process too: what the script started does not outlive it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.set_blocking(0, True)
    while not script.asked_to_end and os.read(0, PIECE):
        pass


def main():
    if sys.version_info < (3, 8):
        send("F", ("Python 3.8 or newer is needed, and this is %d.%d" % sys.version_info[:2]).encode())
        return
    send("H", b"")
    (length,) = struct.unpack(">I", read_exactly(4))
    start = json.loads(read_exactly(length)[1:].decode())
    try:
        script = Script()
    except OSError as error:
        send("F", str(error).encode("utf-8", "replace"))
        return
    code, problem = None, None
    try:
        script.start(start)
        code = script.run()
    except OSError as error:
        problem = error
    finally:
        script.close()
    if problem is not None:
        send("F", str(problem).encode("utf-8", "replace"))
    elif code is not None:
        send_json("X", {"code": code})
    wait_for_the_end(script)


main()
