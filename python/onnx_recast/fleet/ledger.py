"""Which models have a row: on the disk, so that memory does not grow with their number."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from onnx_recast.fleet.rows import Row, Task


class Ledger:
    """The models of a run, and the rows of earlier runs of the same job."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="recast-fleet-")
        self._tables = sqlite3.connect(Path(self._folder.name) / "ledger", isolation_level=None)
        self._tables.executescript(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            PRAGMA cache_size = -16384;
            CREATE TABLE known (uri TEXT PRIMARY KEY, row TEXT, output TEXT) WITHOUT ROWID;
            CREATE TABLE tasks (uri TEXT PRIMARY KEY, task TEXT, rows INTEGER) WITHOUT ROWID;
            BEGIN
            """
        )

    def remember(self, rows: Iterable[tuple[Row, bool]]) -> None:
        """Keep rows of earlier runs, of the same job or not; the last one of a model counts."""
        facts = ((row.uri, row.to_json() if same else None, row.output) for row, same in rows)
        self._tables.executemany("INSERT OR REPLACE INTO known VALUES (?, ?, ?)", facts)

    def expect(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Return tasks, each once, with the rows of earlier runs."""
        for task in tasks:
            added = self._tables.execute(
                "INSERT OR IGNORE INTO tasks VALUES (?, ?, 0)", (task.uri, json.dumps([task.size, task.beside]))
            )
            if added.rowcount:
                found = self._tables.execute("SELECT row, output FROM known WHERE uri = ?", (task.uri,)).fetchone()
                known, written = found or (None, None)
                yield replace(task, known=known, written=written)

    def is_first(self, row: Row) -> bool:
        """Count a row, and return whether it is the first one of a model of this run."""
        counted = self._tables.execute("UPDATE tasks SET rows = rows + 1 WHERE uri = ? AND rows = 0", (row.uri,))
        return counted.rowcount == 1

    def missing(self) -> Iterator[Task]:
        """Return the models without a row."""
        for uri, task in self._tables.execute("SELECT uri, task FROM tasks WHERE rows = 0 ORDER BY uri"):
            size, beside = json.loads(task)
            yield Task(uri, size, beside)

    def expected(self) -> int:
        """Return the number of models."""
        return int(self._tables.execute("SELECT count(*) FROM tasks").fetchone()[0])

    def close(self) -> None:
        """Remove the tables."""
        self._tables.close()
        self._folder.cleanup()
