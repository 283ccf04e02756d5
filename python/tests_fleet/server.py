"""An S3 server of moto with faults, a gate and a log, in a process of its own. It ends when its standard input does."""

from __future__ import annotations

import io
import json
import logging
import random
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

CONTROL = "/-"
"""The path of the controls, outside of all buckets.

GET returns the log and the requests at the gate; PUT sets the faults and the gate, and empties the log; DELETE opens
the gate.
"""


class Gate:
    """Holds uploads of models after a number of them was stored, until it is opened.

    A test stops a run at the same point with it, however fast or slow the machine is.
    """

    def __init__(self, most: int | None) -> None:
        self._changed = threading.Condition()
        self._most, self._stored = most, set[str]()
        self._admitted: set[int] = set()
        self._held: dict[int, dict[str, Any]] = {}

    def enter(self, environ: dict[str, Any]) -> None:
        """Wait until the upload may be stored. One whose client has ended meanwhile is not.

        An object that is there already is not waited for, since it would not be stored again.
        """
        number, path = id(environ), environ["PATH_INFO"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        with self._changed:
            if not self._is_open(path):
                self._held[number] = environ
                self._changed.wait_for(lambda: self._is_open(path))
                del self._held[number]
                if is_closed(environ["werkzeug.socket"]):
                    raise ConnectionAbortedError("the client has ended")
            self._admitted.add(number)

    def _is_open(self, path: str) -> bool:
        return self._most is None or path in self._stored or len(self._stored) + len(self._admitted) < self._most

    def leave(self, environ: dict[str, Any], is_stored: bool) -> None:
        """Count an upload; one that was refused leaves its place to another."""
        with self._changed:
            self._admitted.discard(id(environ))
            if is_stored:
                self._stored.add(environ["PATH_INFO"])
            self._changed.notify_all()

    def held(self) -> list[dict[str, Any]]:
        """Return the path and the client's port of each upload that waits."""
        with self._changed:
            waiting = [one for one in self._held.values() if not is_closed(one["werkzeug.socket"])]
            return [{"path": one["PATH_INFO"], "port": int(one["REMOTE_PORT"])} for one in waiting]

    def open(self) -> None:
        """Hold no more uploads."""
        with self._changed:
            self._most = None
            self._changed.notify_all()


def is_closed(connection: socket.socket) -> bool:
    """Whether the client of a request, all of which was read, has closed its connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class Faults:
    """Fails some requests.

    ``busy`` is the part of the requests that is answered with 503. Of the others, ``cut`` is the part that ends in the
    middle: uploads before they are stored, downloads while they are sent. The choice depends on the request and on how
    often it was sent, not on the order of requests. ``cut_first`` downloads of each kind are cut in any case.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._gate, self._storing = Gate(None), threading.Lock()
        self._set({})

    def _set(self, faults: dict[str, Any]) -> None:
        self._gate.open()
        self._gate = Gate(faults.get("hold"))
        self._seed, self._sent = faults.get("seed", 1), Counter[str]()
        self._busy, self._cut = faults.get("busy", 0.0), faults.get("cut", 0.0)
        self._cut_first = faults.get("cut_first", 0)
        self._log: list[dict[str, Any]] = []

    def _chosen(self, method: str, path: str, query: str) -> tuple[bool, bool]:
        """Return whether to answer that the storage is busy, and whether to cut the transfer."""
        # Queries of uploads have random names.
        name = f"{method} {path} {query if method == 'GET' else ''}"
        with self._lock:
            self._sent[name] += 1
            count = self._sent[name]
        choice = random.Random(f"{self._seed} {name} {count}")
        is_busy, is_cut = choice.random() < self._busy, choice.random() < self._cut
        return is_busy, is_cut or (method == "GET" and count <= self._cut_first)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path == CONTROL:
            return self._control(environ, start_response)
        is_busy, is_cut = self._chosen(method, path, environ["QUERY_STRING"])
        entry = {"method": method, "path": path, "query": environ["QUERY_STRING"], "status": 0, "bytes": 0}
        if is_busy:
            entry["status"] = 503
            self._add(entry)
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response("503 Slow Down", [("Content-Length", "0")])
            return []
        if is_cut and method == "PUT":
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0) // 2)
            self._add({**entry, "status": -1})
            raise ConnectionAbortedError("the upload is cut")

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            entry["status"] = int(status.split()[0])
            return start_response(status, headers, *rest)

        if method == "PUT" and path.endswith(".onnx"):
            gate = self._gate
            gate.enter(environ)
            try:
                # Between the condition of an upload and the upload, moto would answer others.
                with self._storing:
                    body = b"".join(self._application(environ, start))
            finally:
                gate.leave(environ, entry["status"] == 200)
        else:
            body = b"".join(self._application(environ, start))
        entry["bytes"] = len(body)
        if is_cut and method == "GET" and len(body) > 1:
            self._add({**entry, "status": -1})
            return [body[: len(body) // 2]]
        self._add(entry)
        return [body]

    def _add(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._log.append(entry)

    def _control(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        with self._lock:
            answer = json.dumps({"log": self._log, "held": self._gate.held()}).encode()
            if environ["REQUEST_METHOD"] == "PUT":
                self._set(json.loads(content))
            elif environ["REQUEST_METHOD"] == "DELETE":
                self._gate.open()
        start_response("200 OK", [("Content-Length", str(len(answer)))])
        return [answer]


def main() -> None:
    """Serve on a free port, which is printed."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = make_server("127.0.0.1", 0, Faults(DomainDispatcherApplication(create_backend_app)), threaded=True)
    server.log = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
