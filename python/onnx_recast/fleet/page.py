"""The summary of a run as one HTML page, which loads nothing and runs no script."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx_recast.fleet.rows import OUTCOMES
from onnx_recast.fleet.text import shown

if TYPE_CHECKING:
    from onnx_recast.fleet.summaries import Summary

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .2rem .6rem; text-align: left; vertical-align: top; }
td, dd { overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; width: 8rem; }
dl { display: grid; gap: .1rem 1.5rem; grid-template-columns: max-content 1fr; }
dd { margin: 0; }
.bar { display: flex; height: 1.2rem; margin: 1rem 0; } .bar span { min-width: 2px; }
.ok { background: #2a8a4a; } .findings { background: #b58900; }
.refused { background: #cb6a16; } .failed { background: #c0392b; }
"""
_COLOURS = {"ok": "ok", "findings": "findings", "refused": "refused"}


def page(summary: Summary) -> str:
    """Return the page. Names of models are escaped: neither markup nor control characters of theirs remain."""
    facts = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in summary.facts())
    tables = "".join(_table(*table) for table in summary.tables())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Run {_safe(summary.run)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Run {_safe(summary.run)}</h1>
{_bar(summary)}
<dl>{facts}</dl>
{tables}
</body>
</html>
"""


def _bar(summary: Summary) -> str:
    parts = "".join(
        f'<span class="{_COLOURS.get(name, "failed")}" style="flex: {count}" title="{_safe(name)}: {count}"></span>'
        for name in OUTCOMES
        if (count := summary.outcomes[name])
    )
    return f'<div class="bar">{parts}</div>'


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
    head = "".join(f"<th>{_safe(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<h2>{_safe(title)}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"


def _cell(value: object) -> str:
    return f"<td class=number>{value}</td>" if isinstance(value, int) else f"<td>{_safe(value)}</td>"


def _safe(value: object) -> str:
    return html.escape(shown(value))
