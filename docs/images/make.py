#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/performance.md: `make.py` writes them beside itself, `make.py --check` compares them.

Each picture exists for light and dark pages. The numbers of the chart are read from docs/performance.md. The graph is that of
models/fp8_qdq.onnx, whose counts README.md shows.
"""

import re
import sys
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parent / "performance.md"
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

THEMES = {
    "light": {
        "page": "#ffffff", "panel": "#f6f8fa", "border": "#d0d7de", "text": "#1f2328", "quiet": "#59636e", "edge": "#818b98",
        "node": "#ffffff", "cast": "#ffebe9", "cast-border": "#cf222e", "folded": "#dafbe1", "folded-border": "#1a7f37",
        "constant": "#eaeef2", "bar": "#0969da", "loop": "#afb8c1", "line": "#cf222e",
    },
    "dark": {
        "page": "#0d1117", "panel": "#151b23", "border": "#3d444d", "text": "#f0f6fc", "quiet": "#9198a1", "edge": "#7d8590",
        "node": "#212830", "cast": "#3c1618", "cast-border": "#f85149", "folded": "#12261e", "folded-border": "#3fb950",
        "constant": "#2a313c", "bar": "#4493f8", "loop": "#656c76", "line": "#f85149",
    },
}  # fmt: skip


class Drawing:
    """The elements of a picture, with the colours of a theme."""

    def __init__(self, theme, width, height, title):
        self.colours, self.width, self.height, self.title = theme, width, height, title
        self.elements = []

    def rectangle(self, x, y, width, height, fill, border=None, radius=6):
        stroke = f' stroke="{self.colours[border]}"' if border else ""
        self.elements.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" fill="{self.colours[fill]}"{stroke}/>'
        )

    def text(self, x, y, text, colour="text", anchor="start", size=12, bold=False):
        weight = ' font-weight="600"' if bold else ""
        self.elements.append(
            f'<text x="{x:g}" y="{y:g}" fill="{self.colours[colour]}" text-anchor="{anchor}" font-size="{size}"{weight}>{escape(text)}</text>'
        )

    def path(self, points, colour="edge", has_arrow=True, dash=""):
        line = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        arrow = ' marker-end="url(#arrow)"' if has_arrow else ""
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(f'<path d="{line}" fill="none" stroke="{self.colours[colour]}" stroke-width="1.4"{arrow}{dash}/>')

    def svg(self):
        arrow = (
            '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0.5 L8 4 L0 7.5 z" fill="{self.colours["edge"]}"/></marker>'
        )
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" font-family="{FONT}" role="img">'
        lines = [head, f"<title>{escape(self.title)}</title>", f"<defs>{arrow}</defs>", *self.elements, "</svg>"]
        return "\n".join(lines) + "\n"


# The chain from input to output: text and width.
CHAIN = [
    ("x", 30), ("QuantizeLinear", 108), ("DequantizeLinear", 122), ("MatMul", 68), ("Add", 48), ("Relu", 52), ("MatMul", 68),
    ("Add", 48), ("y", 30),
]  # fmt: skip
GAP, ROW, BOX = 26, 54, 30
LEFT, WIDTH = 39, 860

# The constants that are cast: name and type before, and after, and what they lead to in the chain.
CONSTANTS = [
    (("zero", "FLOAT"), ("zero_e4m3", "FLOAT8E4M3FN"), (1, 2)),
    (("up_weight_scaled", "FLOAT[32, 48], 6 KiB"), ("up_weight_e4m3", "FLOAT8E4M3FN, 1.5 KiB"), (3,)),
    (("down_weight_scaled", "FLOAT[48, 16], 3 KiB"), ("down_weight_e5m2", "FLOAT8E5M2, 768 B"), (6,)),
]


def graph(theme):
    """The graph of models/fp8_qdq.onnx before and after a fold."""
    drawing = Drawing(theme, WIDTH, 484, "models/fp8_qdq.onnx before and after recast fold")
    drawing.rectangle(0.5, 0.5, WIDTH - 1, 483, "page", "border", 8)
    panel(drawing, 10, 256, "Before", "12 nodes, 3 casts in every run, 10.3 KiB", is_folded=False)
    panel(drawing, 274, 200, "After recast fold", "9 nodes, no casts, 3.3 KiB, every weight exact to the bit", is_folded=True)
    return drawing.svg()


def panel(drawing, top, height, name, counts, is_folded):
    drawing.rectangle(10, top, WIDTH - 20, height, "panel", "border")
    quiet = drawing.colours["quiet"]
    drawing.elements.append(
        f'<text x="24" y="{top + 22}" fill="{drawing.colours["text"]}" font-size="14" font-weight="600">{name}'
        f'<tspan dx="10" fill="{quiet}" font-size="13" font-weight="400">{counts}</tspan></text>'
    )
    rows = [top + 42 + ROW * index for index in range(3 if is_folded else 4)]
    chain, centres, x = rows[-1], [], LEFT
    for index, (text, width) in enumerate(CHAIN):
        if text in "xy":
            drawing.text(x + width / 2, chain + 20, text, anchor="middle", size=14, bold=True)
        else:
            node(drawing, x, chain, width, text)
        if index:
            drawing.path([(x - GAP + 2, chain + BOX / 2), (x - 2, chain + BOX / 2)])
        centres.append(x + width / 2)
        x += width + GAP
    for before, after, targets in CONSTANTS:
        centre = sum(centres[target] for target in targets) / len(targets)
        bottom = constant(drawing, centre, rows[0], *(after if is_folded else before), is_folded)
        if not is_folded:
            drawing.path([(centre, bottom), (centre, rows[1] - 2)])
            node(drawing, centre - 27, rows[1], 54, "Cast", "cast", "cast-border")
            bottom = rows[1] + BOX
        if len(targets) == 1:
            drawing.path([(centre, bottom), (centre, rows[-2] - 2)])
            node(drawing, centre - 61, rows[-2], 122, "DequantizeLinear")
            bottom = rows[-2] + BOX
        if len(targets) == 1:
            drawing.path([(centre, bottom), (centre, chain - 2)])
            continue
        bend = chain - 14
        drawing.path([(centre, bottom), (centre, bend)], has_arrow=False)
        for target in targets:
            drawing.path([(centre, bend), (centres[target], bend), (centres[target], chain - 2)])


def node(drawing, x, y, width, text, fill="node", border="edge"):
    drawing.rectangle(x, y, width, BOX, fill, border)
    drawing.text(x + width / 2, y + 20, text, anchor="middle", size=13)


def constant(drawing, centre, y, name, description, is_folded):
    """A constant; the y coordinate of its lower end."""
    drawing.rectangle(centre - 76, y - 4, 152, 38, *(("folded", "folded-border") if is_folded else ("constant", "edge")), radius=19)
    drawing.text(centre, y + 11, name, anchor="middle", size=12)
    drawing.text(centre, y + 26, description, "quiet", "middle", 11)
    return y + 34


def chart(theme):
    """GB/s of the casts in the table of docs/performance.md."""
    page = PAGE.read_text()
    memcpy = float(re.search(r"`memcpy`[^.]*? ([\d.]+) GB/s", page)[1])
    table = re.search(r"^\| from \| to \| GB/s .*\n.*\n((?:\|.*\n)+)", page, re.MULTILINE)[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    left, top, step, right, largest = 220, 56, 24, 740, 25
    bottom = top + step * len(rows)
    drawing = Drawing(theme, 760, bottom + 40, "GB/s of casts, beside memcpy and a plain loop")
    drawing.rectangle(0.5, 0.5, 759, bottom + 39, "page", "border", 8)
    drawing.text(16, 26, "Casts on one thread, GB/s read and written", bold=True, size=14)
    for x, colour, text in [(left, "bar", "recast"), (left + 80, "loop", "plain loop")]:
        drawing.rectangle(x, 36, 12, 10, colour, radius=2)
        drawing.text(x + 18, 45, text, "quiet")
    drawing.path([(left + 184, 41), (left + 206, 41)], "line", has_arrow=False, dash="4 3")
    drawing.text(left + 212, 45, f"memcpy, {memcpy:g}", "quiet")

    def position(value):
        return left + (right - left) * value / largest

    for value in range(0, largest + 1, 5):
        drawing.path([(position(value), top), (position(value), bottom)], "border", has_arrow=False)
        drawing.text(position(value), bottom + 20, str(value), "quiet", "middle", 11)
    for index, row in enumerate(rows):
        y = top + step * index
        drawing.text(left - 10, y + 16, f"{row[0]} to {row[1]}", anchor="end", size=11.5)
        drawing.rectangle(left, y + 4, position(float(row[2])) - left, 11, "bar", radius=2)
        drawing.rectangle(left, y + 16, position(float(row[-1])) - left, 4, "loop", radius=1)
    drawing.path([(position(memcpy), top), (position(memcpy), bottom)], "line", has_arrow=False, dash="4 3")
    return drawing.svg()


def main(arguments):
    wrong = []
    for name, draw in [("fold", graph), ("casts", chart)]:
        for theme, colours in THEMES.items():
            path, content = FOLDER / f"{name}-{theme}.svg", draw(colours)
            if "--check" not in arguments:
                path.write_text(content)
            elif not path.exists() or path.read_text() != content:
                wrong.append(path.name)
    if wrong:
        print(f"differ from docs/images/make.py: {' '.join(wrong)}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
