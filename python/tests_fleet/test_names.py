"""Names that the client of storages refuses: each model has a row, and the others are processed."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import chain, objects, rows, upload
from storage_server import Server

from onnx_recast import fleet
from onnx_recast.fleet import listing
from onnx_recast.fleet.__main__ import main

REFUSED = ("w//a.onnx", "a\tb.onnx", "d\x7f.onnx", "w/./x.onnx", "w/../y.onnx", "/m.onnx")
READABLE = ("a.onnx", "m.onnx", "w/0.onnx", "w/é #[%41]~^.onnx", "z.onnx")


@pytest.fixture
def zoo(server: Server) -> str:
    """Store models under all kinds of names."""
    folder = server.bucket()
    for name in (*REFUSED, *READABLE):
        server.put(folder, name, chain(3, name))
    return folder


def test_a_refused_name_does_not_end_the_run(zoo: str, server: Server) -> None:
    out, table = server.bucket(), server.bucket()
    for skipped in (0, len(READABLE)):
        totals = fleet.run(fleet.Job(fleet.convert(17), zoo, out), table, workers=2)
        assert totals.to_dict() == {
            "models": len(REFUSED) + len(READABLE),
            "skipped": skipped,
            "outcomes": {"ok": len(READABLE), "failed": len(REFUSED)},
        }
        found = {uri.removeprefix(zoo): (row.outcome, row.code) for uri, row in rows(table).items()}
        assert {name for name, result in found.items() if result == ("failed", "bad-name")} == set(REFUSED)
        assert all(str(row.message).startswith(f"{uri}: the name has") for uri, row in rows(table).items() if row.code)
        assert sorted(objects(out)) == sorted(READABLE)


def test_a_folder_that_only_another_client_lists(zoo: str, server: Server) -> None:
    """The folder has a refused name, what is beside it does not."""
    table = server.bucket()
    totals = fleet.run(fleet.Job(fleet.inspect(), f"{zoo}w/"), table, workers=1)
    assert totals.to_dict()["outcomes"] == {"ok": 2, "failed": 3}


@pytest.mark.parametrize("refused", ["a\tb.onnx", "/m.onnx"])
def test_other_pages_of_the_listing_are_read_once(refused: str, server: Server) -> None:
    """The first page is listed as usual, unless one of its names is taken for another."""
    zoo = server.bucket()
    upload(zoo, {f"A/{index:04}.txt": b"" for index in range(1005)})
    for name in ("A/m.onnx", "m.onnx", "z.onnx", refused):
        server.put(zoo, name, chain(3))
    uris = [task.uri.removeprefix(zoo) for task in listing.models(zoo)]
    assert sorted(uris) == sorted(["A/m.onnx", "m.onnx", "z.onnx", refused])


@pytest.mark.parametrize(
    ("source", "message"),
    [("s3://missing-bucket/", "The specified bucket does not exist"), ("{empty}", "has no models")],
)
def test_a_source_without_models(
    source: str, message: str, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = source.replace("{empty}", server.bucket())
    assert main(["inspect", given, "--manifest", str(tmp_path), "--quiet"]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "Debug source" not in printed
    assert len(printed.splitlines()) == 1
