"""An S3 server of moto with faults and a log, in a process of its own. It ends when its standard input does."""

from __future__ import annotations

import json
import logging
import random
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

CONTROL = "/-"
"""The path of the controls, outside of all buckets: GET returns the log and empties it, PUT sets the faults."""


class Faults:
    """Fails some requests, by a seeded choice.

    ``busy`` is the part of the requests that is answered with 503. Of the others, ``cut`` is the part that ends in the
    middle: uploads before they are stored, downloads while they are sent.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._set({})

    def _set(self, faults: dict[str, Any]) -> None:
        self._random = random.Random(faults.get("seed", 1))
        self._busy, self._cut = faults.get("busy", 0.0), faults.get("cut", 0.0)
        self._log: list[dict[str, Any]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path == CONTROL:
            return self._control(environ, start_response)
        with self._lock:
            is_busy, is_cut = self._random.random() < self._busy, self._random.random() < self._cut
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
            answer = json.dumps(self._log).encode()
            if environ["REQUEST_METHOD"] == "PUT":
                self._set(json.loads(content))
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
