"""The agent's tools as functions. Each gives back what the tool gives, as a dict; failures have an "error" in it."""
import json
import os
import shlex
import socket
import struct
import threading
import time


class _Answer:
    def __init__(self):
        self.arrived = threading.Event()
        self.text = None


class _Link:
    """One socket, any number of calls at once: each has a number, and its answer has the same."""

    def __init__(self):
        number = os.environ.pop("HERMES_TOOLS_FD", None)
        self._refusal = None if number else "tools can be called from the script's own process only"
        self._socket = socket.socket(fileno=int(number)) if number else None
        if self._socket is not None:
            self._socket.set_inheritable(False)
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting = {}
        self._last = 0
        self._reader = None

    def forked(self):
        """A copy of the process must not read the answers of its parent."""
        self.__init__()

    def call(self, tool, arguments):
        answer = _Answer()
        with self._lock:
            if self._refusal:
                raise RuntimeError(self._refusal)
            self._last += 1
            number = self._last
            self._waiting[number] = answer
            if self._reader is None:
                self._reader = threading.Thread(target=self._read, daemon=True)
                self._reader.start()
        call = {"id": number, "tool": tool, "arguments": arguments}
        body = json.dumps(call, ensure_ascii=False, default=os.fspath).encode("utf-8", "replace")
        with self._sending:
            self._socket.sendall(struct.pack(">I", len(body)) + body)
        answer.arrived.wait()
        if answer.text is None:
            raise RuntimeError(self._refusal or "the agent is gone")
        try:
            return json.loads(answer.text, strict=False)
        except ValueError:
            return answer.text

    def _read(self):
        try:
            while True:
                (length,) = struct.unpack(">I", self._exactly(4))
                answer = json.loads(self._exactly(length).decode("utf-8"))
                with self._lock:
                    waiting = self._waiting.pop(answer["id"], None)
                if waiting is not None:
                    waiting.text = answer["text"]
                    waiting.arrived.set()
        except (OSError, EOFError):
            pass
        with self._lock:
            self._refusal = "the agent is gone"
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.arrived.set()

    def _exactly(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(min(count - len(data), 1 << 16))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)


_link = _Link()
os.register_at_fork(after_in_child=_link.forked)


def _call(tool, arguments):
    return _link.call(tool, {name: value for name, value in arguments.items() if value is not None})


def _define(tools):
    for tool in tools:
        names = tool["required"] + tool["optional"]
        head = tool["required"] + [name + "=None" for name in tool["optional"]]
        pairs = ", ".join("%r: %s" % (name, name) for name in names)
        exec("def %s(%s):\n    return _call(%r, {%s})\n" % (tool["name"], ", ".join(head), tool["name"], pairs), globals())
        globals()[tool["name"]].__doc__ = tool["about"]


def json_parse(text):
    """Reads JSON that may have raw line ends and tabs in its strings."""
    return json.loads(text, strict=False)


def shell_quote(text):
    """The text as one word of a shell command."""
    return shlex.quote(str(text))


def retry(fn, max_attempts=3, delay=2):
    """Calls fn until it does not raise, with growing pauses; raises what the last attempt raised."""
    for attempt in range(max_attempts):
        try:
            return fn()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            time.sleep(delay * 2 ** attempt)
