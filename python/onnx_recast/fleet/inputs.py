"""The files of a model, as temporary files."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

from onnx_recast._errors import InvalidModelError
from onnx_recast.fleet import header, storage
from onnx_recast.fleet.outputs import beside
from onnx_recast.fleet.rows import Row
from onnx_recast.fleet.storage import Stat, Traffic


class ScratchExceeded(Exception):
    """Temporary files would be longer than the limit."""


class Inputs:
    """Reads a model and its data files.

    Parameters
    ----------
    path
        The temporary file of the model; data files are written beside it. It does not exist while the model is small
        enough for memory.
    row
        The row of the model, which gets the facts of the files.
    reads_weights
        Whether tensor values are read.
    most
        Length of all temporary files.
    traffic
        Counts what is moved.
    """

    def __init__(self, path: Path, row: Row, reads_weights: bool, most: int, traffic: Traffic) -> None:
        self.path, self._row, self._reads_weights = path, row, reads_weights
        self._most, self._used, self._traffic = most, 0, traffic
        self._about: Stat | None = None
        self.content: bytes | None = None
        """The model, if it is in memory."""
        self.model_digest = ""
        self.data_digests: list[tuple[str, str]] = []
        """Name and digest of each data file."""
        self.unread = {header.ABSENT}
        """Names of data files that exist, but were not read."""

    @property
    def about(self) -> Stat:
        """The facts of the model."""
        if self._about is None:
            about = storage.stat(self._row.uri, self._traffic)
            if about is None:
                raise FileNotFoundError(errno.ENOENT, "does not exist", self._row.uri)
            self._set(about)
            return about
        return self._about

    def _set(self, about: Stat) -> None:
        self._about = about
        self._row.etag, self._row.size = about.etag, about.size

    def fetch_model(self, size: int) -> None:
        """Read the model, or all but its weights; the size is that of the listing, or 0."""
        uri = self._row.uri
        most = storage.PART if self._reads_weights else header.SMALL_MODEL
        if self._about is None and 0 < size <= most:
            about, small = storage.read_small(uri, most, self._traffic)
            self._set(about)
            if small is not None:
                self.content, self.model_digest = small, self._digest_of(small)
                return
        about = self.about

        def read(start: int, end: int) -> bytes:
            return storage.read_range(uri, start, end, about.etag, self._traffic)

        if not self._reads_weights and about.etag is not None:
            try:
                content = header.without_weights(read, about.size)
            except ValueError:
                pass  # The error of the native module says what it is instead of a model.
            else:
                self.content = content
                self.model_digest = self._digest_of(content)
                return
        self.reserve(about.size)
        make_folder_of(self.path)
        self.model_digest = storage.download(uri, about, self.path, self._traffic)

    def _digest_of(self, content: bytes) -> str:
        """Return a name of the whole model; of one that was read in part, the version in the storage has to do."""
        if self._reads_weights or self.about.etag is None:
            return hashlib.sha256(content).hexdigest()
        return f"etag {self.about.etag} {self.about.size}"

    def reserve(self, size: int) -> None:
        """Count bytes of temporary files.

        Raises
        ------
        ScratchExceeded
            There are more than the limit.
        """
        self._used += size
        if self._used > self._most:
            raise ScratchExceeded(
                f"the files of the model have {self._used} bytes or more; the limit of temporary files is "
                f"{self._most} bytes"
            )

    def fetch_data(self, locations: list[str]) -> None:
        """Read the data files that the model names, or look whether they exist."""
        for location in locations:
            if location in (self.path.name, header.ABSENT):
                continue
            problem = location_problem(location)
            if problem:
                message = f"{self._row.uri}: external_data: data file {location!r} {problem}"
                raise InvalidModelError(message, kind="bad-external-data")
            uri = beside(self._row.uri, location)
            about = storage.stat(uri, self._traffic)
            etag, size = (None, None) if about is None else (about.etag, about.size)
            self._row.data.append({"location": location, "etag": etag, "size": size})
            if about is None:
                continue  # The native module reports it.
            if not self._reads_weights:
                self.unread.add(location)
                self.data_digests.append((location, f"etag {etag} {size}"))
                continue
            self.reserve(about.size)
            path = self.path.parent / location
            path.parent.mkdir(parents=True, exist_ok=True)
            self.data_digests.append((location, storage.download(uri, about, path, self._traffic)))

    def to_file(self) -> None:
        """Write the model to its temporary file, if it is in memory."""
        content, self.content = self.content, None
        if content is not None:
            self.reserve(len(content))
            make_folder_of(self.path)
            self.path.write_bytes(content)

    def may_have_data(self) -> bool:
        """Whether the model can have data files: it names them as values of the key ``location``."""
        # To search a large model would take longer than to open it, which gives the names.
        return self.content is None or b"location" in self.content


def make_folder_of(path: Path) -> None:
    """Make the folder of a temporary file, in one that other users cannot read."""
    path.parent.parent.mkdir(0o700, exist_ok=True)
    path.parent.mkdir(exist_ok=True)


def is_unchanged(known: Row, about: Stat, traffic: Traffic) -> bool:
    """Whether a model and its data files are those of an earlier run."""
    if known.etag is None or known.etag != about.etag:
        return False
    for file in known.data:
        there = storage.stat(beside(known.uri, file["location"]), traffic)
        if (there and there.etag) != file["etag"]:
            return False
    return True


def location_problem(location: str) -> str | None:
    """Return why a data file is not read; None if it is beneath the folder of the model."""
    parts = location.split("/")
    if not location or location.startswith("/") or "\\" in location or ":" in parts[0]:
        return "is not a relative path"
    if ".." in parts:
        return "is outside of the folder of the model"
    if any(part == "" or (part.startswith(".") and part != ".") for part in parts) or not location.isprintable():
        return "does not have the name of a data file"
    return None
