"""Objects by URI: in S3, GCS, Azure, or files."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise
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

from onnx_recast.fleet.files import Entry, is_unicode, walk
from onnx_recast.fleet.other_listing import listed_otherwise
from onnx_recast.fleet.text import plain

if TYPE_CHECKING:
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


class BadName(ValueError):
    """The client of storages refuses the name of an object."""


class StorageError(OSError):
    """A storage cannot be used."""


class DiskFull(OSError):
    """A disk of this machine is full. The same job can be run again, and does what is left."""

    code = "disk-full"


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


_FILE = "file://"


def folder_uri(uri: str | os.PathLike[str]) -> str:
    """Return a URI, or the path of a folder, as a URI that ends with a slash."""
    scheme, _, path = object_uri(uri).partition("://")
    return f"{scheme}://{path.rstrip('/')}/"


def object_uri(uri: str | os.PathLike[str]) -> str:
    """Return a URI, or a path, as a URI."""
    text = os.fspath(uri)
    if not text:
        raise ValueError("the path is empty")
    if "://" not in text or text.startswith(_FILE):
        path = "/" + text.removeprefix(_FILE).lstrip("/") if text.startswith(_FILE) else text
        return f"{_FILE}/{os.path.abspath(path).lstrip('/')}"  # noqa: PTH100
    return text


def locate(uri: str, length: int = 0) -> tuple[ObjectStore, str]:
    """Return the store of an object, for requests that transfer as many bytes, and its path there.

    Raises
    ------
    BadName
        The client of storages refuses the name.
    """
    scheme, _, rest = uri.partition("://")
    authority, _, path = ("", "", rest.removeprefix("/")) if scheme == "file" else rest.partition("/")
    path = path.removesuffix("/")
    if problem := name_problem(path) or name_problem(authority):
        raise BadName(f"{uri}: {problem}")
    return _files() if scheme == "file" else _store(scheme, authority, -(-length // PART)), path


def name_problem(path: str) -> str | None:
    """Return why the client of storages refuses a path, or takes it for another one; None if it does not."""
    if any(part == "" for part in path.split("/")) and path:
        return "the name has an empty part ('//')"
    if any(part in (".", "..") for part in path.split("/")):
        return "the name has a part '.' or '..'"
    if any(char < " " or char == "\x7f" for char in path):
        return "the name has a control character"
    return None if is_unicode(path) else "the name is not UTF-8"


@lru_cache(maxsize=1)
def _files() -> ObjectStore:
    return LocalStore("/", automatic_cleanup=False, mkdir=False)


@lru_cache(maxsize=64)
def _store(scheme: str, authority: str, parts: int) -> ObjectStore:
    prefix = {"s3": "AWS", "gs": "GOOGLE"}.get(scheme[:2], "AZURE")
    # Options that are passed replace those of the environment, so these are passed too.
    named = {name: os.environ.get(f"{prefix}_{name.upper()}") for name in _CLIENT_OPTIONS}
    options: Any = {name: value for name, value in named.items() if value is not None}
    options.setdefault("timeout", f"{max(1, parts) * PART_TIMEOUT}s")
    return from_url(f"{scheme}://{authority}", retry_config=_RETRIES, client_options=options)


_CLIENT_OPTIONS = (
    *("allow_http", "allow_invalid_certificates", "connect_timeout", "default_content_type", "http1_only"),
    *("http2_keep_alive_interval", "http2_keep_alive_timeout", "http2_keep_alive_while_idle", "http2_only"),
    *("pool_idle_timeout", "pool_max_idle_per_host", "proxy_url", "proxy_ca_certificate", "proxy_excludes"),
    *("randomize_addresses", "read_timeout", "timeout", "user_agent"),
)
"""Options of the client that the environment can set, such as ``AWS_ALLOW_HTTP``."""


def is_beneath(folder: str, other: str) -> bool:
    """Whether a folder is another one, or is beneath it; links to folders of this machine are resolved."""
    return any(one.startswith(two) for one, two in zip(*(_spellings(uri) for uri in (folder, other)), strict=True))


def _spellings(uri: str) -> tuple[str, str]:
    resolved = _FILE + os.path.realpath(uri.removeprefix(_FILE)).rstrip("/") + "/" if is_local(uri) else uri
    return uri, resolved


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
    """Whether a folder has no objects; not if it cannot be listed, because of the name of one."""
    try:
        return next(listed(folder), None) is None
    except ValueError:
        return False


def listed(folder: str) -> Iterator[Entry]:
    """Return the objects of a folder. A listing that ends in the middle continues after the last object."""
    store, prefix = locate(folder)
    if is_local(folder):
        yield from walk("/" + prefix)
        return
    last, failures = None, 0
    # Directory buckets of S3 have no order; of other storages, there is no other listing.
    is_ordered = folder.startswith(("s3://", "s3a://")) and not folder.split("/")[2].endswith("--x-s3")
    while True:
        try:
            for page in obstore.list(store, prefix or None, offset=last, chunk_size=1000):
                if is_ordered and not _follow([one["path"] for one in page], last):
                    yield from listed_otherwise(folder, None, "a name begins with '/'")
                    return
                yield from (Entry(one["path"], one["size"]) for one in page)
                last, failures = page[-1]["path"] if page else last, 0
            return
        except InvalidPathError as error:
            # A page of a listing is refused as a whole if it has one name that is.
            yield from listed_otherwise(folder, last, plain(error))
            return
        except BaseError:
            failures += 1
            if failures == ATTEMPTS:
                raise
            _pause(failures)


def _follow(paths: list[str], last: str | None) -> bool:
    """Whether a page of a listing is in order: not if a name begins with a slash, which obstore drops."""
    keys = [path.encode() for path in ([] if last is None else [last]) + paths]
    return all(before <= after for before, after in pairwise(keys))


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
        except (BaseError, OSError) as error:
            if is_disk_full(error):
                raise
            _pause(attempt)
    return work()


def is_disk_full(error: BaseException) -> bool:
    """Whether an error, of Python, obstore or SQLite, states that a disk of this machine has no space left."""
    if isinstance(error, sqlite3.OperationalError):
        return "disk is full" in str(error)
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    return isinstance(error, BaseError | OSError) and any(f"(os error {number})" in plain(error) for number in _FULL)


_FULL = (errno.ENOSPC, errno.EDQUOT)


def _pause(attempt: int) -> None:
    time.sleep(min(5.0, 0.1 * 2**attempt) * random.uniform(0.5, 1))
