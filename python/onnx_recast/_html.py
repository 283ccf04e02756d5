"""Tables for notebooks."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping, Sequence

_MOST_ROWS = 100


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}: {item}" for key, item in value.items())
    return html.escape("" if value is None else str(value))


def table(title: str, columns: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    """Return a table with a title."""
    head = "".join(f"<th>{_cell(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows[:_MOST_ROWS])
    more = f"<p>and {len(rows) - _MOST_ROWS} more</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><caption>{_cell(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def table_of(title: str, items: Sequence[object]) -> str:
    """Return a table of records, a column for each field."""
    names = [field.name for field in dataclasses.fields(items[0])]  # type: ignore[arg-type]
    return table(f"{len(items)} {title}", names, [[getattr(item, name) for name in names] for item in items])


def result_html(result: object) -> str:
    """Return a table of the plain fields of a result, and one for each list in it."""
    plain: list[tuple[str, object]] = []
    lists: list[str] = []
    for field in dataclasses.fields(result):  # type: ignore[arg-type]
        value = getattr(result, field.name)
        if field.name == "model":
            value = type(value).__name__ if not isinstance(value, str) else value
        if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            lists.append(table_of(field.name, value))
        elif isinstance(value, tuple):
            plain.append((field.name, ", ".join(map(str, value[:_MOST_ROWS])) if value else "none"))
        else:
            plain.append((field.name, value))
        if outputs := getattr(value, "outputs", ()):
            lists.append(table_of("outputs", outputs))
    return table(type(result).__name__, ["", ""], plain) + "".join(lists)
