"""Data files larger than the memory of a page, which reads them in ranges, and saves unchanged tensors without reading them."""

import os
import struct
import threading

import pytest
from conftest import recast

GIB = 1 << 30
HALF = 3 * GIB
NUMBERS = [index % 4096 / 8 - 100 for index in range(1 << 21)]
CAST = 4 * len(NUMBERS)
TENSORS = ", ".join(
    f'float[{length // 4}] {name} = ["location": "weights.bin", "offset": "{offset}", "length": "{length}"]'
    for name, offset, length in [("a", 0, HALF), ("w", HALF, CAST), ("b", HALF + CAST, HALF)]
)
MODEL = f"""<ir_version: 10, opset_import: ["": 21]> g (int64 i) => (float16 y, float x, float z) <{TENSORS}> {{
  c = Cast <to = 10> (w) y = Gather (c, i) x = Gather (a, i) z = Gather (b, i)
}}"""
# A place to save files: it knows the lengths of the blobs that are written, and the other bytes.
PLACE = """() => {
  window.saved = {};
  window.showSaveFilePicker = async ({ suggestedName }) => ({
    createWritable: async () => {
      const file = { copied: 0, computed: [] };
      return {
        async write(piece) { piece instanceof Blob ? (file.copied += piece.size) : file.computed.push(piece); },
        async close() { window.saved[suggestedName] = file; },
        async abort() { window.saved[suggestedName] = null; },
      };
    },
  });
}"""
MOST_MEMORY = 300 << 20


@pytest.fixture
def files(tmp_path):
    """The model, and its data file, of which only the numbers take room on the disk."""
    source, data = tmp_path / "source.onnxtxt", tmp_path / "weights.bin"
    source.write_text(MODEL)
    with open(data, "wb") as file:
        file.truncate(2 * HALF + CAST)
        file.seek(HALF)
        file.write(struct.pack(f"<{len(NUMBERS)}f", *NUMBERS))
    done = recast(tmp_path, "fold", source, "--passes", "none", "-o", "model.onnx")
    assert done.returncode == 0, done.stderr
    return [tmp_path / "model.onnx", data]


class Memory:
    """The most memory that is not backed by files of a process that shows pages."""

    def __enter__(self):
        self.most, self.ended = 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while not self.ended.wait(0.02):
            self.most = max([self.most, *(anonymous(process) for process in os.listdir("/proc") if process.isdigit())])


def anonymous(process):
    try:
        with open(f"/proc/{process}/cmdline") as line, open(f"/proc/{process}/status") as status:
            if "--type=renderer" not in line.read():
                return 0
            return 1024 * sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon:", "RssShmem:")))
    except OSError:
        return 0


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the memory of processes is not known")
def test_a_model_with_6_gib_of_data_is_folded_and_saved_with_little_memory(opened, files):
    page = opened()
    page.page.evaluate(PLACE)
    with Memory() as memory:
        assert page.open(*files) == 0
        page.go("fold", external_data="new.bin")
        assert page.run() == 0
        page.page.click("button.save:has-text('new.bin')")
        page.page.wait_for_selector("#status:text('Saved.')", timeout=60_000)
    saved = page.page.evaluate("""() => {
      const { copied, computed } = window.saved["new.bin"];
      const length = computed.reduce((sum, piece) => sum + piece.length, 0);
      return [copied, length, [...computed[0].slice(0, 1000)], [...computed.at(-1).slice(-1000)]];
    }""")
    halves = struct.pack(f"<{len(NUMBERS)}e", *NUMBERS)
    assert saved == [2 * HALF, CAST // 2, list(halves[:1000]), list(halves[-1000:])]
    assert 0 < memory.most < MOST_MEMORY, f"{memory.most >> 20} MiB"


def test_a_data_file_that_changes_is_an_error_when_it_is_saved(opened, files):
    page = opened()
    page.page.evaluate(PLACE)
    assert page.open(*files) == 0
    page.go("fold", external_data="new.bin")
    assert page.run() == 0
    os.truncate(files[1], HALF)
    page.page.click("button.save:has-text('new.bin')")
    page.page.wait_for_selector("#status:text-matches('^Failed: ')", timeout=60_000)
    assert page.page.evaluate("window.saved['new.bin']") is None


def test_a_data_file_is_not_read_as_a_model(opened, files):
    page = opened()
    page.page.set_input_files("#files", files[1])
    page.go("look")
    assert page.run() == 2
    assert "more than can be read into memory" in page.page.inner_text("main")
