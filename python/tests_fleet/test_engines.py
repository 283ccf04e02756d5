"""What only one engine, or another one, needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import chain, models, objects, save_with_data, upload
from storage_server import Server

import onnx_recast
from onnx_recast import fleet
from onnx_recast.fleet import ray_data
from onnx_recast.fleet.child import needs


def test_dask(server: Server) -> None:
    """The example of docs/fleets.md."""
    zoo, out = server.bucket(), server.bucket()
    # Each has another number of nodes, so that a row of another model would differ.
    given = {f"{length}.onnx": chain(length) for length in range(1, 41)}
    upload(zoo, given)
    page = (Path(__file__).parents[2] / "docs" / "fleets.md").read_text()
    code = page.split("## Dask")[1].split("```python\n")[1].split("```")[0]
    code = code.replace("s3://zoo/", zoo).replace("s3://zoo17/", out)
    scope: dict[str, Any] = {}
    exec(code, scope)
    assert objects(out) == {name: onnx_recast.convert_version(model, 17).model for name, model in given.items()}
    assert [row["uri"] for row in scope["rows"]] == scope["uris"]
    found = {row["uri"].removeprefix(zoo): (row["outcome"], row["size"], row["output"]) for row in scope["rows"]}
    assert found == {name: ("ok", len(model), out + name) for name, model in given.items()}


def test_many_pipelines_give_one_row_for_each_model(server: Server, cluster: object, monkeypatch: Any) -> None:
    """Models of one pipeline are those that the driver holds at a time."""
    assert cluster
    monkeypatch.setattr(ray_data, "PIPELINE", 16)
    zoo, table = server.bucket(), server.bucket()
    models(zoo, 50, 3)
    assert fleet.run(fleet.Job(fleet.inspect(), zoo), table, engine="ray").models == 50


def test_larger_models_need_more() -> None:
    small, large = needs(fleet.Task("m", 1 << 20)), needs(fleet.Task("m", 1 << 30, 2 << 30))
    assert small[0] < large[0]
    assert small[1] < large[1]


def test_blocks_are_short_in_models_and_bytes() -> None:
    def lengths(sizes: list[int], most: int) -> list[int]:
        tasks = [fleet.Task(f"m{index}", size) for index, size in enumerate(sizes)]
        blocks = list(ray_data.blocks(tasks, most))
        assert [task for block in blocks for task in block] == tasks
        return [len(block) for block in blocks]

    assert lengths([], 4) == []
    assert lengths([1 << 10] * 10, 4) == [4, 4, 2]
    assert lengths([40 << 20] * 3, 256) == [1, 1, 1]
    assert lengths([0] * 40, 256) == [32, 8]


def test_the_table_of_an_engine_has_paths_only(
    server: Server, cluster: object, tmp_path: Path, monkeypatch: Any
) -> None:
    """No model passes through Ray: what is sent to it is as long for large models."""
    import ray

    assert cluster
    lengths: list[int] = []
    original = ray.data.from_arrow

    def measured(tables: Any) -> Any:
        lengths.append(sum(table.nbytes for table in tables))
        return original(tables)

    monkeypatch.setattr(ray.data, "from_arrow", measured)
    for elements in (1 << 10, 4 << 20):
        zoo, out, table = server.bucket(), server.bucket(), server.bucket()
        upload(zoo, save_with_data(tmp_path, elements))
        assert fleet.run(fleet.Job(fleet.fold(), zoo, out), table, engine="ray").outcomes == {"ok": 1}
    assert abs(lengths[0] - lengths[1]) < 20
    assert max(lengths) < 1000
