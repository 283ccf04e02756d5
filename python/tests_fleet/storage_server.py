"""The storage server of the tests, seen from the tests."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psutil

SERVER = Path(__file__).with_name("server.py")


class Held(NamedTuple):
    """An upload that is held, and the process that waits for it."""

    path: str
    port: int
    process: psutil.Process


class Server:
    """The storage, and what was requested of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }
        self._buckets = 0

    def bucket(self) -> str:
        """Make a bucket, and return its URI."""
        self._buckets += 1
        self._request("PUT", f"/bucket{self._buckets}")
        return f"s3://bucket{self._buckets}/"

    def put(self, folder: str, name: str, content: bytes) -> None:
        """Store an object under any name, also one that the client of storages refuses."""
        bucket = folder.removeprefix("s3://").rstrip("/")
        self._request("PUT", f"/{bucket}/{quote(name)}", content)

    def faults(self, **faults: Any) -> None:
        """Set the faults, and empty the log. ``hold`` is the number of models after which no more are stored."""
        self._request("PUT", "/-", json.dumps(faults).encode())

    def release(self) -> None:
        """Store what is held."""
        self._request("DELETE", "/-")

    def log(self) -> list[dict[str, Any]]:
        """Return the requests since faults were set."""
        return json.loads(self._request("GET", "/-"))["log"]  # type: ignore[no-any-return]

    def stored(self, suffix: str = ".onnx") -> Counter[str]:
        """Return how often each object was stored."""
        done = (one for one in self.log() if one["method"] == "PUT" and one["status"] == 200)
        return Counter(one["path"] for one in done if one["path"].endswith(suffix))

    def held(self) -> list[Held]:
        """Return the uploads that are held."""
        waiting = json.loads(self._request("GET", "/-"))["held"]
        by_port = {one.laddr.port: one.pid for one in psutil.net_connections("tcp") if one.pid is not None}
        return [
            Held(one["path"], one["port"], psutil.Process(by_port[one["port"]]))
            for one in waiting
            if one["port"] in by_port
        ]

    def _request(self, method: str, path: str, content: bytes | None = None) -> bytes:
        kind = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(self.address + path, content, kind, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the server."""
        self._process.communicate()
