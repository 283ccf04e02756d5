"""The summary of a run as one HTML page, which loads nothing and runs no script."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from onnx_recast.fleet.rows import OUTCOMES
from onnx_recast.fleet.text import shown

Table: TypeAlias = tuple[str, Sequence[str], list[tuple[object, ...]]]
"""A title, columns and rows."""

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #8884; padding: .2rem 1.5rem .2rem 0; text-align: left; vertical-align: top;
  white-space: nowrap; }
th { font-weight: 600; } tbody tr:hover { background: #8882; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
.long { min-width: 12rem; overflow-wrap: anywhere; white-space: normal; }
dl { display: grid; gap: .1rem 1.5rem; grid-template-columns: max-content 1fr; }
dd { margin: 0; overflow-wrap: anywhere; }
.bar { display: flex; height: 1.2rem; margin: 1rem 0; } .bar span { min-width: 2px; }
td.key::before { border-left: .8rem solid; content: ""; margin-right: .5rem; }
.bar .ok { background: #2a8a4a; } .bar .findings { background: #b58900; }
.bar .refused { background: #cb6a16; } .bar .failed { background: #c0392b; }
.key.ok::before { color: #2a8a4a; } .key.findings::before { color: #b58900; }
.key.refused::before { color: #cb6a16; } .key.failed::before { color: #c0392b; }
"""
_COLOURS = {"ok": "ok", "findings": "findings", "refused": "refused"}
_NUMBERS = ("models", "nodes", "findings", "seconds", "size")
"""Columns that are aligned to the right."""
_LONG = ("model", "error")
"""Columns whose text continues on the next line."""


def page(run: str, outcomes: Mapping[str, int], facts: Sequence[tuple[str, str]], tables: Sequence[Table]) -> str:
    """Return the page. Names of models are escaped: neither markup nor control characters of theirs remain."""
    shown_facts = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in facts)
    shown_tables = "".join(_table(*table) for table in tables)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Run {_safe(run)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Run {_safe(run)}</h1>
{_bar(outcomes)}
<dl>{shown_facts}</dl>
{shown_tables}
</main>
</body>
</html>
"""


def _bar(outcomes: Mapping[str, int]) -> str:
    parts = "".join(
        f'<span class="{_COLOURS.get(name, "failed")}" style="flex: {count}" title="{_safe(name)}: {count}"></span>'
        for name in OUTCOMES
        if (count := outcomes.get(name))
    )
    counts = ", ".join(f"{name} {count}" for name in OUTCOMES if (count := outcomes.get(name)))
    return f'<div class="bar" role="img" aria-label="Outcomes: {_safe(counts)}">{parts}</div>'


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
    head = "".join(f'<th scope="col" class="{_class(column)}">{_safe(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, columns, row))}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # The page has no script that could tell whether a table is too wide: each can be scrolled with the keyboard.
    box = f'<div class="table" tabindex="0" role="region" aria-label="{_safe(title)}">{table}</div>'
    return f"<h2>{_safe(title)}</h2>\n{box}\n"


def _cell(column: str, value: object) -> str:
    name = f"key {_COLOURS.get(str(value), 'failed')}" if column == "outcome" else _class(column)
    return f'<td class="{name}">{f"{value:,}" if isinstance(value, int) else _safe(value)}</td>'


def _class(column: str) -> str:
    return "number" if column in _NUMBERS else "long" if column in _LONG else "text"


def _safe(value: object) -> str:
    return html.escape(shown(value))
