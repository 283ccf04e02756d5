"""What fleets rest on, in each storage: conditional requests, metadata, ranges, uploads in parts."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import pytest
from conftest import models, objects, rows, save_with_data, upload
from drivers import wait_for
from storage_server import Server

import onnx_recast
from onnx_recast import fleet
from onnx_recast.fleet import listing, storage
from onnx_recast.fleet.storage import Changed, Traffic

AZURITE = os.environ.get("AZURITE", "azurite-blob")
"""The server of Azure's storage, which ``.ci/fleet`` installs."""
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of all such servers, which is documented."""


@pytest.fixture(scope="session")
def azure() -> Iterator[Callable[[], str]]:
    """Start the server, and return a function that makes containers."""
    from azure.storage.blob import BlobServiceClient

    command = [AZURITE, "--inMemoryPersistence", "--blobPort", "0", "--skipApiVersionCheck", "--disableTelemetry"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        settings = {"USE_EMULATOR": "true", "ALLOW_HTTP": "true"}
        os.environ.update({f"AZURE_STORAGE_{name}": value for name, value in settings.items()})
        os.environ["AZURITE_BLOB_STORAGE_URL"] = address
        names = (f"container{index}" for index in itertools.count())

        def container() -> str:
            name = next(names)
            BlobServiceClient(f"{address}/{ACCOUNT}", credential=KEY).create_container(name)
            return f"az://{name}/"

        yield container
        server.terminate()
        server.communicate()


@pytest.fixture(params=["s3", "azure"])
def bucket(request: pytest.FixtureRequest, server: Server) -> Callable[[], str]:
    if request.param == "s3":
        return server.bucket
    made: Callable[[], str] = request.getfixturevalue("azure")
    return made


def test_requests_are_conditional(bucket: Callable[[], str]) -> None:
    uri, traffic = bucket() + "deep/m.onnx", Traffic()

    def put(content: bytes, replaced: storage.Stat | None) -> storage.Stat:
        storage.upload_model(uri, content, {"recastkey": content.decode()}, replaced, traffic)
        written = storage.stat(uri, traffic)
        assert written is not None
        assert (written.size, written.metadata["recastkey"]) == (len(content), content.decode())
        return written

    assert storage.stat(uri, traffic) is None
    first = put(b"one", None)
    with pytest.raises(Changed):
        put(b"other", None)
    second = put(b"three", first)
    with pytest.raises(Changed):
        put(b"other", first)
    assert storage.read_range(uri, 1, 3, second.etag, traffic) == b"hr"
    with pytest.raises(Changed):
        storage.read_range(uri, 1, 3, first.etag, traffic)
    assert storage.get_bytes(uri) == b"three"


def test_a_model_of_several_parts_is_one_request(bucket: Callable[[], str]) -> None:
    uri, traffic, model = bucket() + "m.onnx", Traffic(), bytes(40 << 20)
    storage.upload_model(uri, model, {"recastkey": "k"}, None, traffic)
    assert (traffic.requests, traffic.written_bytes) == (1, len(model))
    assert storage.get_bytes(uri) == model


def test_a_large_request_has_more_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second for each MiB: a small model that is held longer is sent again, a large one is waited for."""
    monkeypatch.setattr(storage, "PART", 1 << 20)
    monkeypatch.setattr(storage, "PART_TIMEOUT", 1)
    folder = server.bucket()
    server.faults(hold=0)

    def ports() -> dict[str, int]:
        """Return the port of each upload that is held; one that is sent again has another."""
        return {one.path.rpartition("/")[2]: one.port for one in server.held()}

    models = {"small.onnx": b"", "large.onnx": bytes(120 << 20)}
    with ThreadPoolExecutor(2) as threads:
        done = {
            name: threads.submit(storage.upload_model, folder + name, model, {}, None, Traffic())
            for name, model in models.items()
        }
        wait_for(lambda: len(ports()) == 2)
        large = ports()["large.onnx"]
        # Between the second and the third there is a whole second.
        sent = set[int]()

        def is_sent_again() -> bool:
            sent.update(ports().values())
            return len(sent - {large}) > 2

        wait_for(is_sent_again)
        assert ports()["large.onnx"] == large
        server.release()
        done["large.onnx"].result()
        # The storage may store a request that the client gave up, and refuse the one that was sent again.
        assert isinstance(done["small.onnx"].exception(), Changed | None)
    assert objects(folder) == models


def test_a_job_is_done_once_and_replaced_by_another(bucket: Callable[[], str], tmp_path: Path) -> None:
    zoo, out, table = bucket(), bucket(), bucket()
    names = models(zoo, 20)
    # Several parts, which are uploaded and downloaded at the same time.
    data = save_with_data(tmp_path, 12 << 20)
    upload(zoo + "large/", data)
    for opset in (17, 18):
        for skipped in (0, 21):
            totals = fleet.run(fleet.Job(fleet.convert(opset), zoo, out), table, workers=2)
            assert totals.to_dict() == {"models": 21, "skipped": skipped, "outcomes": {"ok": 21}}
        found = objects(out)
        for name in names:
            assert found[name] == onnx_recast.convert_version(storage.get_bytes(zoo + name), opset).model
    # The data files of both jobs are there.
    assert [content for name, content in found.items() if name.endswith(".data")] == [data["m.data"]] * 2
    assert {row.requests for row in rows(table).values() if not row.data} == {2}


def test_a_header_is_read_by_ranges(bucket: Callable[[], str], tmp_path: Path) -> None:
    zoo, table = bucket(), bucket()
    data = save_with_data(tmp_path, 1 << 20)
    whole = bytes(onnx.load(tmp_path / "m.onnx").SerializeToString())
    assert len(whole) > 4 << 20
    upload(zoo, {**data, "whole.onnx": whole})
    assert fleet.run(fleet.Job(fleet.inspect(), zoo), table).outcomes == {"ok": 2}
    read = {uri.removeprefix(zoo): row.read_bytes for uri, row in rows(table).items()}
    assert read["m.onnx"] == len(data["m.onnx"])
    assert read["whole.onnx"] < 64 << 10


def test_a_listing_that_is_cut_continues(server: Server) -> None:
    zoo = server.bucket()
    # Two pages of S3, each of which is cut twice.
    upload(zoo, {f"{index:04}.onnx": b"" for index in range(1500)})
    server.faults(cut_first=2)
    uris = [task.uri for task in listing.models(zoo)]
    assert -1 in {one["status"] for one in server.log()}
    assert uris == [f"{zoo}{index:04}.onnx" for index in range(1500)]
