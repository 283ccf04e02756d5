"""The models to process: a folder, or a table of paths."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from onnx_recast.fleet.files import Entry, escaped, is_unicode
from onnx_recast.fleet.rows import Task
from onnx_recast.fleet.storage import folder_uri, get_bytes, is_local, listed, locate, object_uri


def models(
    source: str, *, without: Iterable[str | None] = (), on_loop: Callable[[str], object] | None = None
) -> Iterator[Task]:
    """Return the models of a source, as they are listed.

    Parameters
    ----------
    source : str
        The URI or path of a folder with objects ending in ``.onnx``, of one such object, of a text file (``.txt``) with
        a URI on each line, or of a Parquet file with a column ``uri``.
    without : iterable of str
        Folders beneath ``source`` whose objects are left out.
    on_loop : callable, optional
        Called with the URI of each link to a folder that contains it. Such a link is not followed.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        There is no such folder on this machine.
    ValueError
        The Parquet file has no column ``uri`` of strings.
    """
    if source.endswith(".onnx"):
        yield Task(object_uri(source))
    elif source.endswith(".txt"):
        lines = get_bytes(object_uri(source)).decode(errors="surrogateescape").splitlines()
        yield from (_named(line.strip()) for line in lines if line.strip())
    elif source.endswith(".parquet"):
        yield from _of_parquet(object_uri(source))
    else:
        yield from _of_folder(folder_uri(source), [uri for uri in without if uri is not None], on_loop)


def _named(text: str) -> Task:
    if is_unicode(text):
        return Task(object_uri(text))
    return Task(object_uri(escaped(text)), obstacle=("bad-name", "the name is not UTF-8"))


def _of_parquet(uri: str) -> Iterator[Task]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryFile() as file:
        file.write(get_bytes(uri))
        file.seek(0)
        table = pq.ParquetFile(file)
        if "uri" not in table.schema_arrow.names:
            raise ValueError(f"{uri} has no column 'uri'")
        kind = table.schema_arrow.field("uri").type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise ValueError(f"{uri}: the column 'uri' has {kind}, not strings")
        for batch in table.iter_batches(columns=["uri"]):
            yield from (Task(object_uri(one)) for one in batch.column("uri").to_pylist() if one)


def _of_folder(source: str, without: list[str], on_loop: Callable[[str], object] | None) -> Iterator[Task]:
    prefix = locate(source)[1]
    root = source.removesuffix(prefix + "/") if prefix else source
    if is_local(source) and not (folder := Path("/" + prefix)).is_dir():
        raise (
            NotADirectoryError(f"{source} is not a folder")
            if folder.exists()
            else FileNotFoundError(f"{source} does not exist")
        )
    for _, group in groupby(listed(source), lambda one: one.path.rpartition("/")[0]):
        folder_of_models = [(root + one.path, one) for one in group]
        found = [(uri, one) for uri, one in folder_of_models if not any(uri.startswith(other) for other in without)]
        beside = sum(one.size for uri, one in found if not uri.endswith(".onnx"))
        for uri, one in found:
            if one.obstacle == "link-loop":
                if on_loop is not None:
                    on_loop(uri)
            elif uri.endswith(".onnx") or (one.obstacle is not None and uri.endswith("/")):
                yield Task(uri, one.size, beside, obstacle=_obstacle(one))


def _obstacle(entry: Entry) -> tuple[str, str] | None:
    return None if entry.obstacle is None else (entry.obstacle, entry.message)
