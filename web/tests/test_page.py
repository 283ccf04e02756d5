"""What a person meets: fixes, saved options, the keyboard, small screens, screen readers, hostile models, and a run that takes long."""

import os
import pathlib
import struct

import pytest
from conftest import JOBS, ROOT, recast
from hostile import HOSTILE, plant

# Drops a folder with these files, given by their names: their bytes.
DROP = """(contents) => {
  const entry = ([name, bytes]) => ({ name, isDirectory: false, file: (done) => done(new File([new Uint8Array(bytes)], name)) });
  const parts = [Object.entries(contents).map(entry), []];
  const folder = { name: "dropped", isDirectory: true, createReader: () => ({ readEntries: (done) => done(parts.shift()) }) };
  const event = new Event("drop");
  event.dataTransfer = { items: [{ webkitGetAsEntry: () => folder }], files: [] };
  document.dispatchEvent(event);
}"""
DROP_FILE = """([name, bytes]) => {
  const event = new Event("drop");
  event.dataTransfer = { items: [], files: [new File([new Uint8Array(bytes)], name)] };
  document.dispatchEvent(event);
}"""
FLOAT8 = ROOT / "models/fp8_qdq.onnx"


def findings(folder, data):
    path = folder / "fixed.onnx"
    path.write_bytes(data)
    lines = recast(folder, "lint", path, "--format", "concise").stdout.splitlines()
    return [line.split(": ")[2].split()[0] for line in lines if "RC" in line]


def test_one_finding_is_fixed_or_all_of_its_rule_or_all(opened, tmp_path):
    before = findings(tmp_path, FLOAT8.read_bytes())
    assert {"RC101", "RC102"} < set(before)
    page = opened()
    page.open(FLOAT8)
    for button in ["#fix-one", "#fix-rule"]:
        page.choose("look")
        page.choose("lint")
        page.run()
        page.page.fill("#search", "RC101")
        page.page.click(button)
        page.page.wait_for_selector("text=Save fp8_qdq.onnx")
        assert findings(tmp_path, page.saved()["fp8_qdq.onnx"]) == [code for code in before if code != "RC101"], button
    page.set(fix=True)
    page.run()
    assert set(findings(tmp_path, page.saved()["fp8_qdq.onnx"])).isdisjoint({"RC101", "RC102"})


def test_the_address_restores_options_and_no_model(opened):
    page = opened()
    page.open(FLOAT8)
    page.choose("convert")
    page.set(opset="21", no_verify=True)
    address = page.page.url
    assert "fp8" not in address
    again = opened("#" + address.split("#")[1])
    again.open(FLOAT8)
    assert again.page.inner_text("#command") == "recast convert fp8_qdq.onnx --opset 21 --no-verify -o fp8_qdq.converted.onnx --report report.html"


def test_a_result_is_the_model_of_the_next_task(opened):
    page = opened()
    page.open(FLOAT8)
    page.choose("fold")
    page.run()
    page.page.click("button.open")
    page.choose("convert")
    page.set(opset="21")
    assert page.page.inner_text("#command").startswith("recast convert fp8_qdq.folded.onnx --opset 21 ")
    assert page.run() == 0
    assert "fp8_qdq.folded.converted.onnx" in page.saved()


def test_a_dropped_folder_has_the_data_files_at_their_locations(opened, tmp_path, model):
    path = model('<ir_version: 10, opset_import: ["": 21]> g (float x) => (float16[2] y) <float[2] w = {2, 3}> { c = Cast <to = 10> (w) d = Cast <to = 10> (x) y = Add (c, d) }')
    done = recast(tmp_path, "fold", path, "--passes", "none", "--external-data", "w.bin", "--external-threshold", "0", "-o", "apart.onnx")
    assert done.returncode == 0, done.stderr
    contents = {name: list((tmp_path / name).read_bytes()) for name in ["apart.onnx", "w.bin"]}
    page = opened("#task=fold")
    page.page.evaluate(DROP, contents)
    page.wait()
    assert page.page.inner_text("#command") == "recast fold dropped/apart.onnx -o dropped/apart.folded.onnx --report report.html"
    assert set(page.saved()) == {"dropped/apart.folded.onnx", "report.html"}
    assert page.page.locator("#code").get_attribute("data-value") == "0"


@pytest.mark.parametrize("job", [job for job in JOBS if job not in ["diff", "cast"]])
def test_every_task_runs_on_the_example_as_it_is(opened, job):
    page = opened(f"#task={job}")
    page.page.click("#example")
    assert page.wait() == (1 if job == "lint" else 0)


def test_the_data_file_of_a_model_can_be_dropped_after_it(opened, tmp_path):
    done = recast(tmp_path, "fold", FLOAT8, "--passes", "none", "--external-data", "w.bin", "--external-threshold", "0", "-o", "apart.onnx")
    assert done.returncode == 0, done.stderr
    for job in ["look", "fold"]:
        page = opened(f"#task={job}")
        assert page.open(tmp_path / "apart.onnx") == 2
        assert page.page.inner_text("#missing").startswith("The model has its values in data files. Drop them here")
        page.page.evaluate(DROP_FILE, ["w.bin", list((tmp_path / "w.bin").read_bytes())])
        page.page.wait_for_selector("#code[data-value='0']")
        assert page.page.locator("#missing").count() == 0


def test_a_file_that_is_no_model_says_what_it_is(opened, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("This is no model.")
    page = opened()
    assert page.open(notes) == 2
    assert "notes.txt: is a text file, not an ONNX model" in page.page.inner_text("#outcome")


def test_two_models_are_compared(opened):
    page = opened("#task=diff")
    page.open(FLOAT8, ROOT / "models/transformer_fp16.onnx")
    assert page.page.inner_text("#command") == "recast report transformer_fp16.onnx fp8_qdq.onnx -o report.html"
    assert "differences" in page.text()


def test_a_runtime_or_an_opset_is_chosen(opened):
    page = opened("#task=convert")
    page.open(FLOAT8)
    command = lambda: page.page.inner_text("#command").split(" -o ")[0].removeprefix("recast convert fp8_qdq.onnx ")
    assert command() == "--opset latest"
    for option, value, expected in [
        ("opset", "13", "--opset 13"),
        ("target", "onnxruntime@1.17", "--target onnxruntime@1.17"),
        ("lowest", True, "--target onnxruntime@1.17 --lowest"),
        ("opset", "21", "--opset 21"),
        ("lowest", True, "--lowest"),
    ]:
        page.set(**{option: value})
        assert command() == expected


def test_an_error_is_shown_whole(opened):
    for fragment, parts in {
        "task=convert&opset=13&lowest=true": ["the argument '--opset <N>' cannot be used with '--lowest"],
        "task=fold&passes=identiti": ["unknown pass 'identiti'", "identity"],
        "task=convert&ir-version=x&opset=13": ["invalid value 'x' for '--ir-version"],
        "task=lint&target=ort@1.20": ["invalid value 'ort@1.20'", "onnxruntime"],
        "task=precision&keep-op=softmax": ["softmax", "Softmax"],
    }.items():
        page = opened("#" + fragment)
        page.page.click("#example")
        assert page.wait() == 2, fragment
        shown = page.page.locator("ul.errors").inner_text()
        assert [part for part in parts if part not in shown] == [], shown
        assert "Usage:" not in shown


def test_options_are_quoted_for_a_shell_and_cannot_be_others(opened):
    page = opened()
    page.open(FLOAT8)
    page.choose("lint")
    page.set(select="--fix; it's")
    assert page.page.inner_text("#command") == "recast lint fp8_qdq.onnx '--select=--fix; it'\\''s' --report report.html"
    assert page.run() == 2
    assert list(page.saved()) == []


def test_tasks_are_chosen_by_keys(opened):
    page = opened()
    page.open(FLOAT8)
    page.page.focus("#tab-look")
    for job in JOBS[1:] + JOBS[:1]:
        page.page.keyboard.press("ArrowRight")
        assert page.page.evaluate("document.activeElement.id") == f"tab-{job}"
        assert page.page.get_attribute(f"#tab-{job}", "aria-selected") == "true"


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_views_are_accessible_and_fit(opened, width, colour):
    page = opened(viewport={"width": width, "height": 800}, color_scheme=colour)
    axe = pathlib.Path(os.environ["AXE"]).read_text()
    violations = []
    for job in [None, *JOBS]:
        if job == "look":
            page.open(FLOAT8, ROOT / "models/transformer_fp16.onnx")
        elif job:
            page.choose(job)
        if job == "convert":
            page.set(opset="11")
        if job == "cast":
            page.set(number="500.3")
        if job:
            page.run()
        found = page.page.evaluate(f"{axe}; axe.run(document).then(({{ violations }}) => violations.map(({{ id, nodes }}) => `${{id}}: ${{nodes[0].html}}`))")
        violations += [f"{job}: {each}" for each in found]
        needs = page.page.evaluate("document.documentElement.scrollWidth")
        violations += [f"{job}: {needs} pixels wide"] if needs > width else []
        if folder := os.environ.get("SCREENSHOTS"):
            page.page.screenshot(path=f"{folder}/{job}-{width}-{colour}.png", full_page=True)
    assert violations == []


def test_names_are_shown_and_not_interpreted(opened, model):
    path = model('<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) <float w = {2}> { [NAME] a = Cast <to = 10> (w) y = Neg (x) }')
    plant(path, b"NAME", "".join(HOSTILE).encode())
    page = opened()
    assert page.open(path) == 0
    page.choose("fold")
    assert page.run() == 0
    text = page.text()
    assert "onerror=alert(1)" in text and "\\u{202e}" in text
    assert page.page.evaluate("document.querySelectorAll('img, iframe').length") == 0
    name = path.with_name("<img src=x onerror=alert(1)>.onnx")
    name.write_bytes(path.read_bytes())
    page.open(name)
    assert "<img src=x onerror=alert(1)>.onnx" in page.page.inner_text("#open")


@pytest.fixture
def running(opened, model):
    """The page while it looks at a long model."""
    nodes = " ".join(f"v{index} = Cast <to = {10 if index % 2 else 1}> ({f'v{index - 1}' if index else 'x'})" for index in range(30_000))
    path = model(f'<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) {{ {nodes} y = Cast <to = 1> (v29999) }}')
    page = opened()
    page.page.set_input_files("#files", path)
    page.page.wait_for_selector("#cancel:visible")
    return page


def test_a_run_can_be_cancelled(running):
    running.page.click("#cancel")
    running.page.wait_for_selector("#status:text('Cancelled.')")
    assert running.page.is_enabled("#run")


def test_a_run_shows_what_it_is_doing(running):
    running.page.wait_for_selector("#status:text-matches('^Running, .* s: [a-z]+, [0-9]+ %$')")


def test_a_task_that_is_left_ends(running):
    running.choose("cast")
    running.set(number="1")
    running.run()
    assert running.page.locator("table.bits").count() == 1


def test_nothing_can_be_sent(opened):
    page = opened()
    page.open(FLOAT8)
    finished = []
    page.page.on("requestfinished", lambda request: finished.append(request.url))
    attempts = {
        "fetch": "fetch('https://example.com/').then(() => 'sent', () => 'refused')",
        "beacon": "Promise.resolve(navigator.sendBeacon('https://example.com/', 'x')).then(() => 'tried')",
        "socket": "new Promise((done) => { try { const s = new WebSocket('wss://example.com/'); s.onopen = () => done('sent'); s.onerror = () => done('refused'); } catch { done('refused'); } })",
        "picture": "new Promise((done) => { const p = new Image(); p.onload = () => done('sent'); p.onerror = () => done('refused'); p.src = 'https://example.com/x.png'; })",
    }
    outcomes = {what: page.page.evaluate(attempt) for what, attempt in attempts.items()}
    assert "sent" not in outcomes.values(), outcomes
    assert [url for url in finished if not url.startswith(("file:", "blob:"))] == []
    # The browser reports each attempt as a violation of the policy.
    reports = [fault for fault in page.faults if fault.startswith("console: ")]
    assert len(reports) >= len(attempts) and all("violates" in report for report in reports), reports
    page.faults.clear()


@pytest.mark.parametrize(
    ("number", "rows"),
    [
        ("500.3", {"FLOAT16": ("0 10111 1111010001", "500.25"), "FLOAT8E4M3FN-saturate": ("0 1111 110", "448"), "FLOAT8E8M0-round_mode-down": ("10000111", "256")}),
        ("-0", {"FLOAT": ("1 00000000 00000000000000000000000", "-0"), "INT8": ("00000000", "0"), "FLOAT8E4M3FNUZ-saturate": ("0 0000 000", "0")}),
        ("9007199254740993", {"INT64": (" ".join(f"{byte:08b}" for byte in struct.pack(">q", 9007199254740993)), "9007199254740993"), "FLOAT": ("0 10110100 00000000000000000000000", "9007199254740992")}),
        ("nan", {"FLOAT8E5M2-saturate": ("0 11111 10", "NaN"), "INT2": None}),
    ],
)
def test_a_number_in_every_type(opened, number, rows):
    page = opened("#task=cast")
    page.set(number=number)
    page.run()
    for key, expected in rows.items():
        cells = [cell.strip() for cell in page.page.locator(f"#cast-{key} td").all_inner_texts()]
        _, value, _, bits = cells
        assert ((" ".join(bits.split()), value) if bits else None) == expected, key
