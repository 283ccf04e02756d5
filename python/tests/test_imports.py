"""The package has no import cycles, neither by imports in functions nor by those for type checkers."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import onnx_recast

PACKAGE = Path(onnx_recast.__file__).parent


def graph_of(package: Path) -> dict[str, set[str]]:
    """Return the modules that each module of a package imports, wherever the import is."""
    paths = [*package.rglob("*.py"), *package.rglob("*.pyi")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in paths]
    modules = {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}
    return {name: set(imported(ast.parse(path.read_text()), modules)) & {*modules} for name, path in modules.items()}


def imported(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """Yield the modules that a module imports; of a package, the modules that are named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "an import is relative"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else str(node.module) for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def cycles_of(graph: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """Return the shortest cycle through each module that is in one, from its first module on."""
    cycles = set()
    for start in graph:
        seen = {start}
        paths: list[tuple[str, ...]] = [(start,)]
        while paths:
            path = paths.pop(0)
            if start in graph[path[-1]]:
                first = path.index(min(path))
                cycles.add(path[first:] + path[:first])
                break
            reached = sorted(graph[path[-1]] - seen)
            seen.update(reached)
            paths += [(*path, module) for module in reached]
    return cycles


def test_no_cycle() -> None:
    graph = graph_of(PACKAGE)
    assert "onnx_recast._operations.fold" in graph["onnx_recast"]
    assert [" -> ".join((*cycle, cycle[0])) for cycle in sorted(cycles_of(graph))] == []
