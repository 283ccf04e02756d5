"""Objects by URI: in S3, GCS, Azure, or files."""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import LocalStore, from_url

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

_T = TypeVar("_T")

PART = 16 << 20
"""Objects are read and written in parts of this length."""
PARALLEL = 4
"""Parts that are read or written at a time."""
PART_TIMEOUT = 30
"""Seconds for a request of at most a part; one of more bytes has as much for each part. The environment may set another
time, for all requests: ``AWS_TIMEOUT``, ``GOOGLE_TIMEOUT``, ``AZURE_TIMEOUT``."""
ATTEMPTS = 5
"""How often a transfer is attempted that ends in the middle; single requests are repeated by obstore."""
_RETRIES: Any = {
    "max_retries": 12,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=15), "base": 2},
    "retry_timeout": timedelta(minutes=5),
}
_ANSWERS = (
    AlreadyExistsError,
    PreconditionError,
    PermissionDeniedError,
    UnauthenticatedError,
    InvalidPathError,
    NotSupportedError,
)
"""Errors that would be the same if the request were repeated."""


class Changed(Exception):
    """An object is not what it was when it was first seen, or exists although it did not."""


class Truncated(OSError):
    """An object is shorter than the storage states."""


@dataclass(slots=True)
class Traffic:
    """What was moved."""

    read_bytes: int = 0
    written_bytes: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Stat:
    """What the storage knows about an object."""

    size: int
    etag: str | None
    version: str | None
    metadata: Mapping[str, str]


def folder_uri(uri: str | os.PathLike[str]) -> str:
    """Return a URI, or the path of a folder, as a URI that ends with a slash."""
    return object_uri(uri).rstrip("/") + "/"


def object_uri(uri: str | os.PathLike[str]) -> str:
    """Return a URI, or a path, as a URI."""
    text = os.fspath(uri)
    if not text:
        raise ValueError("the path is empty")
    if "://" not in text:
        return "file://" + os.path.abspath(text)  # noqa: PTH100
    return text


def locate(uri: str, length: int = 0) -> tuple[ObjectStore, str]:
    """Return the store of an object, for requests that transfer as many bytes, and its path there."""
    scheme, _, rest = uri.partition("://")
    if scheme == "file":
        return _files(), rest.strip("/")
    authority, _, path = rest.partition("/")
    return _store(scheme, authority, -(-length // PART)), path.strip("/")


@lru_cache(maxsize=1)
def _files() -> ObjectStore:
    return LocalStore("/", automatic_cleanup=False, mkdir=False)


@lru_cache(maxsize=64)
def _store(scheme: str, authority: str, parts: int) -> ObjectStore:
    # Options of the client that are passed would replace those of the environment, such as AWS_ALLOW_HTTP.
    name = {"s3": "AWS", "gs": "GOOGLE"}.get(scheme[:2], "AZURE") + "_TIMEOUT"
    given = os.environ.get(name)
    os.environ[name] = given or f"{max(1, parts) * PART_TIMEOUT}s"
    try:
        return from_url(f"{scheme}://{authority}", retry_config=_RETRIES)
    finally:
        if given is None:
            del os.environ[name]


def is_local(uri: str) -> bool:
    """Whether an object is a file, which has no metadata."""
    return uri.startswith("file://")


def stat(uri: str, traffic: Traffic) -> Stat | None:
    """Return the facts of an object, or None if there is none."""
    store, path = locate(uri)
    traffic.requests += 1
    try:
        return _stat_of(_retried(lambda: obstore.get(store, path, options={"head": True})))
    except FileNotFoundError:
        return None


def _stat_of(found: obstore.GetResult) -> Stat:
    meta = found.meta
    metadata = {str(name).lower(): str(value) for name, value in found.attributes.items()}
    return Stat(meta["size"], meta["e_tag"], meta["version"], metadata)


def read_small(uri: str, most: int, traffic: Traffic) -> tuple[Stat, bytes | None]:
    """Return the facts of an object, and its bytes if there are at most as many.

    Raises
    ------
    FileNotFoundError
        There is no such object.
    """
    store, path = locate(uri)

    def read() -> tuple[Stat, bytes | None]:
        found = obstore.get(store, path)
        about = _stat_of(found)
        if about.size > most:
            return about, None
        content = bytes(found.bytes())
        if len(content) != about.size:
            raise Truncated(f"{uri}: {len(content)} of {about.size} bytes")
        return about, content

    traffic.requests += 1
    about, content = _retried(read)
    traffic.read_bytes += len(content or b"")
    return about, content


def is_empty(folder: str) -> bool:
    """Whether a folder has no objects."""
    return next(listed(folder), None) is None


def listed(folder: str) -> Iterator[ObjectMeta]:
    """Return the objects of a folder. A listing that ends in the middle continues after the last object."""
    store, prefix = locate(folder)
    last, failures = None, 0
    while True:
        try:
            for page in obstore.list(store, prefix or None, offset=last, chunk_size=1000):
                yield from page
                last, failures = page[-1]["path"] if page else last, 0
            return
        except BaseError:
            failures += 1
            # A local file system lists in no order.
            if failures == ATTEMPTS or is_local(folder):
                raise
            _pause(failures)


def read_range(uri: str, start: int, end: int, etag: str | None, traffic: Traffic) -> bytes:
    """Return bytes of an object that must still have this tag."""
    return bytes(_read_part(uri, start, end, etag, traffic)) if start < end else b""


def _read_part(uri: str, start: int, end: int, etag: str | None, traffic: Traffic) -> obstore.Bytes:
    """Return bytes in the memory of obstore, without a copy."""
    store, path = locate(uri)

    def read() -> obstore.Bytes:
        try:
            found = obstore.get(store, path, options={"range": (start, end), "if_match": etag})
        except PreconditionError:
            raise Changed(f"{uri} has changed while it was read") from None
        content = found.bytes()
        if len(content) != end - start:
            raise Truncated(f"{uri}: {len(content)} of {end - start} bytes at {start}")
        return content

    traffic.requests += 1
    content = _retried(read)
    traffic.read_bytes += len(content)
    return content


def download(uri: str, about: Stat, path: Path, traffic: Traffic) -> str:
    """Write an object to a file, in parts, and return its digest."""
    digest = hashlib.sha256()
    with path.open("wb") as file, ThreadPoolExecutor(PARALLEL) as threads:

        def part(start: int) -> obstore.Bytes:
            return _read_part(uri, start, min(start + PART, about.size), about.etag, traffic)

        starts = range(0, about.size, PART)
        if len(starts) <= 1:
            parts = map(part, starts)
            for content in parts:
                digest.update(content)
                file.write(content)
            return digest.hexdigest()
        # As many parts are in memory as are read at a time.
        waiting = [threads.submit(part, start) for start in starts[:PARALLEL]]
        for start in starts:
            content = waiting.pop(0).result()
            ahead = start + PARALLEL * PART
            if ahead < about.size:
                waiting.append(threads.submit(part, ahead))
            digest.update(content)
            file.write(content)
    return digest.hexdigest()


def upload_data(uri: str, path: Path, traffic: Traffic) -> None:
    """Write a data file in parts, unless it is there. Its name has a key: objects of the same name are equal."""
    size = path.stat().st_size
    there = stat(uri, traffic)
    if there is not None and there.size == size:
        return
    store, name = locate(uri)
    _make_folder(uri)

    def write() -> None:
        obstore.put(store, name, path, use_multipart=size > PART, chunk_size=PART, max_concurrency=PARALLEL)
        written = stat(uri, traffic)
        if written is None or written.size != size:
            raise Truncated(f"{uri}: {written.size if written else 'none'} of {size} bytes were written")

    _retried(write)
    traffic.requests += 1 if size <= PART else 2 + -(-size // PART)
    traffic.written_bytes += size


def upload_model(
    uri: str, model: Path | bytes, metadata: Mapping[str, str], replaced: Stat | None, traffic: Traffic
) -> None:
    """Write a model in one request: a new object, or in place of the one that was seen.

    Raises
    ------
    Changed
        There is another object by now.
    """
    _make_folder(uri)
    if isinstance(model, bytes) or model.stat().st_size == 0:
        content = model if isinstance(model, bytes) else b""
        _upload(uri, content, metadata, replaced)
        size = len(content)
    else:
        # The pages of a map are not memory of the process.
        with model.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            size = len(mapped)
            _upload(uri, mapped, metadata, replaced)
    traffic.requests += 1
    traffic.written_bytes += size


def _upload(uri: str, content: bytes | mmap.mmap, metadata: Mapping[str, str], replaced: Stat | None) -> None:
    store, name = locate(uri, len(content))
    seen = {} if replaced is None else {"e_tag": replaced.etag, "version": replaced.version}
    mode: Any = {name: value for name, value in seen.items() if value is not None} or "create"
    attributes: Any = None if is_local(uri) else dict(metadata)
    if replaced is not None and is_local(uri):
        # A local file system has no conditional replacement, so the check comes just before it.
        now = stat(uri, Traffic())
        if now is None or now.etag != replaced.etag:
            raise Changed(f"{uri} has changed")
        mode = "overwrite"
    try:
        _retried(lambda: obstore.put(store, name, content, mode=mode, attributes=attributes, use_multipart=False))
    except (AlreadyExistsError, PreconditionError):
        raise Changed(f"{uri} has changed") from None


def put_bytes(uri: str, content: bytes) -> None:
    """Write a new object."""
    store, name = locate(uri)
    _make_folder(uri)
    _retried(lambda: obstore.put(store, name, content, mode="create"))


def get_bytes(uri: str) -> bytes:
    """Return a whole object."""
    store, name = locate(uri)
    return bytes(_retried(lambda: obstore.get(store, name).bytes()))


def _make_folder(uri: str) -> None:
    if is_local(uri):
        Path("/" + locate(uri)[1]).parent.mkdir(parents=True, exist_ok=True)


def _retried(work: Callable[[], _T]) -> _T:
    """Repeat a transfer that has ended in the middle; errors that are answers are not repeated."""
    for attempt in range(1, ATTEMPTS):
        try:
            return work()
        except (FileNotFoundError, PermissionError, *_ANSWERS):
            raise
        except (BaseError, OSError):
            _pause(attempt)
    return work()


def _pause(attempt: int) -> None:
    time.sleep(min(5.0, 0.1 * 2**attempt) * random.uniform(0.5, 1))
