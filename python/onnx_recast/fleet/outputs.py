"""The output of a model: found by its key, written with its data file first and the model last."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import Any

from onnx_recast._errors import RecastError
from onnx_recast.fleet import storage
from onnx_recast.fleet.rows import Row
from onnx_recast.fleet.storage import Stat, Traffic

_MOST_METADATA = 1500
"""Length of a result in the metadata of an object: S3 allows 2 KiB in all."""
# Azure allows no other characters in names of metadata.
_KEY, _JOB, _SOURCE, _ROW = "recastkey", "recastjob", "recastsource", "recastrow"


class Output:
    """The object of an output.

    Parameters
    ----------
    uri
        The object.
    row
        The row of the model, which gets the facts of the output.
    job
        The digest of the job.
    is_new
        Whether there was no output when the run began.
    may_replace
        Whether an object that was not made from the same model can be replaced.
    traffic
        Counts what is moved.
    """

    def __init__(
        self, uri: str, row: Row, job: str, traffic: Traffic, *, is_new: bool = False, may_replace: bool = False
    ) -> None:
        self.uri, self._row, self._job, self._may_replace, self._traffic = uri, row, job, may_replace, traffic
        self._there = None if is_new else storage.stat(uri, traffic)

    @property
    def data_name(self) -> str:
        """The name of the data file. It depends on the key, so that no job writes into a file of another."""
        assert self._row.key is not None
        return f"{PurePosixPath(self.uri).stem[:200]}.{self._row.key[:16]}.data"

    def known(self) -> Row | None:
        """Return the row with which the same job has made this output; None if it was too long for metadata."""
        there = self._there
        if there is None or there.metadata.get(_JOB) != self._job:
            return None
        row = Row.unpacked(self._row.uri, there.metadata.get(_ROW, ""))
        return row if row and (row.output, row.output_size, row.key) == (self.uri, there.size, self._key) else None

    def is_made(self, known: Row) -> bool:
        """Whether the output is that of a row, which may have none."""
        if known.output is None:
            return True
        there = self._there
        if known.output != self.uri or there is None or there.size != known.output_size:
            return False
        return storage.is_local(self.uri) or self._key == known.key

    @property
    def _key(self) -> str | None:
        return None if self._there is None else self._there.metadata.get(_KEY)

    def store(self, model: Path | bytes, saved: Any) -> None:
        """Write the model, and the data file that was saved with it.

        Raises
        ------
        RecastError
            The output has an object that must not be replaced.
        Changed
            Another run has written another output meanwhile.
        """
        row = self._row
        row.output = self.uri
        row.skipped = self._there is not None and self._is(self._there, model)
        if not row.skipped:
            self._check_replaceable()
        row.output_size = _length(model)
        if isinstance(model, Path) and saved.get("data_file") is not None:
            row.output_data_size = saved["data_file"]["bytes"]
            row.output_data = beside(self.uri, self.data_name)
            storage.upload_data(row.output_data, model.parent / self.data_name, self._traffic)
        if not row.skipped:
            self._store_model(model)

    def _store_model(self, model: Path | bytes) -> None:
        assert self._row.key is not None
        metadata = {_KEY: self._row.key, _JOB: self._job, _SOURCE: _digest(self._row.uri)}
        packed = self._row.packed(_MOST_METADATA)
        if packed is not None:
            metadata[_ROW] = packed
        try:
            storage.upload_model(self.uri, model, metadata, self._there, self._traffic)
        except storage.Changed:
            # Another run may have written the same, or a request of this one whose answer was lost.
            there = storage.stat(self.uri, self._traffic)
            if there is None or not self._is(there, model):
                raise

    def _is(self, there: Stat, model: Path | bytes) -> bool:
        """Whether an object is the output already. Files have no keys."""
        if not storage.is_local(self.uri):
            return there.metadata.get(_KEY) == self._row.key
        if there.size != _length(model):
            return False
        return storage.get_bytes(self.uri) == (model if isinstance(model, bytes) else model.read_bytes())

    def _check_replaceable(self) -> None:
        there = self._there
        if there is None or self._may_replace or there.metadata.get(_SOURCE) == _digest(self._row.uri):
            return
        raise RecastError(
            f"{self.uri} exists and was not made from this model; use overwrite to replace it", kind="output-exists"
        )


def beside(uri: str, location: str) -> str:
    """Return the URI of a data file of a model."""
    parts = [part for part in location.split("/") if part != "."]
    return uri.rpartition("/")[0] + "/" + "/".join(parts)


def _length(model: Path | bytes) -> int:
    return len(model) if isinstance(model, bytes) else model.stat().st_size


def _digest(uri: str) -> str:
    """Return a name of a model for metadata, which cannot have all characters."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]
