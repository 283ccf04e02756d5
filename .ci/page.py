"""Opens HTML reports in a browser: numbers on the page equal the JSON in it, there are no errors on the console, the keyboard works,
nothing overflows or is cut at 360 pixels, names of a model are not interpreted, names of megabytes are shortened, axe-core finds no
violation, and the page of a model of 50,000 nodes is ready soon. The page about a fleet is checked by axe-core, too.

RECAST is the command, BROWSER a Chromium or Chrome, AXE the file axe.min.js of axe-core. The browser runs a script at the end of a copy of
the page, and prints the elements.
"""

import collections
import html
import importlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import types

from hostile import HOSTILE, plant

RECAST, BROWSER, AXE = os.environ["RECAST"], os.environ["BROWSER"], os.environ["AXE"]
ROOT = pathlib.Path(__file__).resolve().parent.parent

# Passes compute a node, change one and remove others.
EXACT = """<ir_version: 10, opset_import: ["": 21]> g (float16[2, 3] x, float[rows] u) => (double[2, 3] y, int64[2] z, float[rows] v, float[2] p)
<float[2] w1 = {1, 2}, float[2] w2 = {1, 2}> {
    a = Cast <to = 1> (x) [b] b = Cast <to = 11> (a) y = Relu (b) s = Shape (x) [z] z = Add (s, s)
    [same] c = Cast <to = 1> (u) v = Neg (c) q = Mul (w1, w1) p = Add (q, w2)
}"""
# A mask and a weight with losses, a constant in an attribute, a node that is kept, a cast that is removed.
PRECISION = """<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y)
<float[2] mask = {0, -3.4e38}, float[2] w = {1e-12, 0.1}> {
    a = Add (x, mask) [exp] b = Exp (a) s = Sigmoid (b) c = Constant <value_float = 0.1> () d = Mul (s, c) e = Mul (d, w)
    h = Cast <to = 10> (e) i = Sin (h) j = Cast <to = 1> (i) y = Tanh (j)
}"""
# Values of a type that opset 18 lacks, and a node that OpenVINO computes wrong.
CARRIED = """<ir_version: 10, opset_import: ["": 21]> g (float[2] x, float[4, 5] u) => (float[2] y, float[4, 2] v, int64[4, 2] i) <int64[1] k = {2}> {
    a = Cast <to = 17> (x) y = Cast <to = 1> (a) v, i = TopK (u, k)
}"""
# A name of ten megabytes.
LONG = 10_000_000

# Seconds of processor time for the page of 50,000 nodes, start of the browser included. docs/report.md has measured figures.
MOST_SECONDS = 20
MOST_ROWS = 60
# Pixels of a row of the list below its texts: three lines.
MOST_UNUSED = 57

# How often a browser is started for one page.
STARTS = 3

# What the page shows, and how it reacts to keys; printed as the text of an element.
PROBE = """
<script>
const key = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const probe = { ready: performance.now(), numbers: {} };
for (const element of document.querySelectorAll("[data-of]")) probe.numbers[element.dataset.of] = Number(element.dataset.value);
const chosen = () => document.querySelector('[aria-selected="true"]')?.id;
const list = document.getElementById("list");
probe.elements = document.querySelectorAll("*").length;
probe.foreign = document.querySelectorAll("img, iframe, object, embed, link, a, form").length;
probe.scripts = document.scripts.length;
probe.text = document.getElementById("page").innerText;
probe.background = getComputedStyle(document.body).backgroundColor;
if (list) {
  probe.drawn = document.querySelectorAll(".drawing rect").length;
  probe.rows = document.querySelectorAll(".row").length;
  probe.count = Number(document.getElementById("count").dataset.value);
  key(document.body, "/");
  probe.focus = document.activeElement.id;
  key(document.activeElement, "ArrowDown");
  probe.then = document.activeElement.id;
  key(list, "ArrowDown");
  probe.second = chosen();
  key(list, "End");
  probe.last = chosen();
  const search = document.getElementById("search");
  const start = performance.now();
  search.value = "no such place";
  search.dispatchEvent(new Event("input"));
  probe.none = Number(document.getElementById("count").dataset.value);
  probe.search = performance.now() - start;
  key(search, "Escape");
  probe.again = Number(document.getElementById("count").dataset.value);
  document.querySelector("#groups button").click();
  probe.grouped = Number(document.getElementById("count").dataset.value);
}
const result = document.createElement("pre");
result.id = "probe";
result.textContent = JSON.stringify(probe);
document.body.append(result);
// Text whose end is not visible: in a box that hides what does not fit. Names of megabytes end in the list, and continue beside it.
const isCut = (box) => getComputedStyle(box).overflow === "hidden" && (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
const cut = [...document.querySelectorAll("#page *")].filter((box) => isCut(box) && box.textContent.length < 120).map((box) => box.textContent);
// The pixels below the texts of a row.
const unused = Math.max(0, ...[...document.querySelectorAll(".row")].map((row) => row.clientHeight - 9 - row.children[0].offsetHeight - row.children[1].offsetHeight));
parent.postMessage({ cut, unused, width: document.documentElement.clientWidth, needs: document.documentElement.scrollWidth }, "*");
</script>
"""

failures = []
cases = 0


def expect(what, found, expected):
    global cases
    cases += 1
    if found != expected:
        failures.append(f"{what}: {found!r} instead of {expected!r}")


def recast(*arguments, codes=(0,)):
    done = subprocess.run([RECAST, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"recast {arguments}: exit code {done.returncode}\n{done.stderr}")


def elements(file, expected, *options):
    """What the expression finds in the elements of a page after its scripts have run, and what is on the console. A browser that shows
    no page, which happens where other programs take the processor, is started again."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions"]
    command += ["--enable-logging=stderr", *options, "--dump-dom", file.as_uri()]
    for _ in range(STARTS):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        found = re.search(expected, done.stdout, re.DOTALL)
        if found:
            return html.unescape(found[1]), [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        print(f"{file.name}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}", file=sys.stderr)
    sys.exit(f"{file.name}: the page did not run to its end, {STARTS} times")


def probed(page, *options):
    """What PROBE finds in a page."""
    text = page.read_text()
    copy = page.with_name(f"probe-{page.name}")
    copy.write_text(text[: text.rindex("</body>")] + PROBE + text[text.rindex("</body>") :])
    found, console = elements(copy, '<pre id="probe">(.*?)</pre>', *options)
    expect(f"{page.name}: console", console, [])
    return json.loads(found)


def content(page):
    return json.loads(page.read_text().split('id="content">')[1].split("</script>")[0])


def counts(document):
    """The lines of the page by kind, and their groups, counted anew."""
    groups = collections.Counter()
    for model in document.get("fold", []):
        folds, removes = ("foldable", "removable") if model["output"] is None else ("folded", "removed")
        groups.update((folds, f"{one['from']} to {one['to']}") for one in model["folded"])
        groups.update((folds, one["op"]) for one in model.get("computed", []))
        groups.update(("changed", f"{one['pass']}: {one['op']}") for one in model.get("changes", []))
        groups.update(("kept", one["code"]) for one in model["skipped"])
        removals = model.get("removals", [])
        expect("removals", len(removals), len(model["removed_initializers"]) + len(model.get("removed_nodes", [])))
        groups.update((removes, f"{one['pass']}: {one['code']}") for one in removals)
    for model in document.get("convert", []):
        for one in model["blockers"]:
            before, after = one["opset_step"]
            groups["blocker", f"{one['op']}, opset {before} to {after}: {one['code']}"] += 1
        expanded = {one["node"] for one in model["expansions"]}
        groups.update(("warning", one["op"]) for one in model["warnings"])
        groups.update(("changed", one["op"]) for one in model["changes"] if one["node"] not in expanded)
        groups.update(("guarded" if one["guarded_for"] else "expanded", one["op"]) for one in model["expansions"])
        groups.update(("carried", f"{one['from']} to {one['to']}") for one in model["carried"])
    for model in document.get("precision", []):
        groups.update(("kept", one["code"]) for one in model["kept"])
        groups.update(("constant", f"{one['from']} to {one['to']}") for one in model["tensors"])
        groups.update(("added", f"{one['from']} to {one['to']}") for one in model["casts_added"])
        groups.update(("removed", "Cast") for _ in model["casts_removed"])
    for kind, key in [("finding", "findings"), ("fixed", "fixed")]:
        groups.update((kind, f"{one['code']} {one['name']}") for one in document.get("lint", {}).get(key, []))
    groups.update(("difference", one["kind"].capitalize()) for one in document.get("diff", {}).get("differences", []))
    kinds = collections.Counter()
    for (kind, _), count in groups.items():
        kinds[kind] += count
    return kinds, groups


def check(page):
    """The numbers of a page, and its reaction to keys."""
    document, found = content(page), probed(page)
    kinds, groups = counts(document)
    total = sum(kinds.values())
    numbers = found["numbers"]
    for kind, count in kinds.items():
        # The answer about a comparison is the count.
        expect(f"{page.name}: {kind}", numbers.get(f"count.{kind}"), None if kind == "difference" else count)
    for (kind, group), count in groups.most_common(100):
        expect(f"{page.name}: {kind} {group}", numbers.get(f"group.{kind}.{group}"), count)
    if len(document["models"]) == 1:
        model = document["models"][0]
        tensors = {side: model[side]["tensors"] for side in ["before", "after"] if side in model}
        by_type = {side: {dtype: facts["bytes"] for dtype, facts in held["by_type"].items()} for side, held in tensors.items()}
        for side, held in tensors.items():
            # Numbers that have not changed are shown once.
            is_shown = side == "before" or by_type[side] != by_type["before"]
            for dtype, count in by_type[side].items():
                expect(f"{page.name}: {side} {dtype}", numbers.get(f"{side}.tensors.by_type.{dtype}.bytes"), count if is_shown else None)
            expect(f"{page.name}: {side}", numbers.get(f"{side}.tensors.bytes"), held["bytes"] if is_shown else None)
            expect(f"{page.name}: sum {side}", sum(by_type[side].values()), held["bytes"])
    else:
        for index, model in enumerate(document["models"]):
            expect(f"{page.name}: nodes of {index}", numbers.get(f"models.{index}.before.nodes"), model["before"]["nodes"])
    expect(f"{page.name}: scripts", (found["scripts"], found["foreign"]), (3, 0))
    if total:
        keys = [found[key] for key in ["count", "focus", "then", "second", "none", "again"]]
        expect(f"{page.name}: keys", keys, [total, "search", "list", "row-1" if total > 1 else "row-0", 0, total])
        expect(f"{page.name}: last", found["last"], f"row-{total - 1}")
        expect(f"{page.name}: many rows", found["rows"] > MOST_ROWS, False)
        expect(f"{page.name}: first group", found["grouped"] in groups.values(), True)
    return found


def check_narrow(page, folder):
    """Nothing but tables and drawings, which scroll by themselves, is wider than a page of 360 pixels; no text is cut; no row of the list is much higher
    than its texts."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<body><iframe src="probe-{page.name}" style="width:360px;height:800px;border:0"></iframe>'
        '<script>onmessage = ({ data }) => { document.title = `${data.width} ${data.needs} ${data.unused} ${JSON.stringify(data.cut)}`; };</script>'
    )
    found, _ = elements(frame, "<title>(.+?)</title>", "--virtual-time-budget=3000")
    width, needs, unused, cut = found.split(maxsplit=3)
    expect(f"{page.name}: width", needs, width)
    expect(f"{page.name}: rows as high as their texts", int(unused) <= MOST_UNUSED, True)
    expect(f"{page.name}: cut", cut, "[]")


def check_axe(page, folder, width=1280, *options):
    """axe-core finds nothing, with all details open."""
    text = page.read_text()
    script = """
    for (const details of document.querySelectorAll("details")) details.open = true;
    axe.run(document).then(({ violations, passes }) => {
      const places = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
      parent.postMessage({ places, passes: passes.length }, "*");
    });"""
    # The policy of the page of a fleet allows no script.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    copy = folder / f"axe-{page.name}"
    end = text.rindex("</body>")
    copy.write_text(f"{text[:end]}<script>{pathlib.Path(AXE).read_text()}</script><script>{script}</script>{text[end:]}")
    frame = folder / "axe.html"
    frame.write_text(
        f'<title>axe</title><iframe src="{copy.name}" style="width:{width}px;height:900px;border:0"></iframe><pre id="axe"></pre>'
        '<script>onmessage = ({ data }) => { document.getElementById("axe").textContent = JSON.stringify(data); };</script>'
    )
    found, _ = elements(frame, '<pre id="axe">(.+?)</pre>', "--virtual-time-budget=30000", "--window-size=1400,1000", *options)
    result = json.loads(found)
    expect(f"{page.name}: axe at {width} pixels", (result["places"], result["passes"] > 10), ([], True))


def fleet_page():
    """The page about a run on a fleet, with all of its tables; the package itself, which needs the native module, is not imported."""
    sys.path.insert(0, str(ROOT / "python"))
    for name in ["onnx_recast", "onnx_recast.fleet"]:
        package = types.ModuleType(name)
        package.__path__ = [str(ROOT / "python" / name.replace(".", "/"))]
        sys.modules[name] = package
    summaries = importlib.import_module("onnx_recast.fleet.summaries")
    uri = "s3://bucket/models/" + "encoder-" * 20 + "{}.onnx"
    kind = ("Resize", "19 to 18", "attribute-unsupported")
    return summaries.Summary(
        run="2026-01-01",
        complete=True,
        steps=[["fold", {}], ["convert", {"opset": 13}]],
        models=7,
        outcomes=collections.Counter(dict.fromkeys(summaries.OUTCOMES, 1)),
        errors=collections.Counter({"not-a-model": 1}),
        blockers=collections.Counter({kind: 3}),
        blocked_models=collections.Counter({kind: 1}),
        findings=collections.Counter({"RC101": 2}),
        slowest=[(1.5, uri.format(1))],
        largest=[(1 << 30, uri.format(2))],
        failed=[(uri.format(3), "failed", "the file is not an ONNX model")],
    ).to_html()


def text_model(nodes):
    return f'<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] y) <float[2] w = {{2, 3}}> {{ {nodes} }}'


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pages = {name: folder / f"{name}.html" for name in ["fold", "exact", "refused", "blocked", "convert", "carried", "guarded", "precision", "constants", "lint", "fixed", "report", "redundant", "diff", "equal", "unreadable", "hostile", "big", "long"]}
        recast("fold", "models/transformer_fp16.onnx", "-o", folder / "folded.onnx", "--verify", "--report", pages["fold"])
        recast("convert", "models/transformer_fp16.onnx", "--opset", 1, "--dry-run", "--report", pages["blocked"], codes=[1])
        exact = folder / "exact.onnxtxt"
        exact.write_text(EXACT)
        recast("fold", exact, "-o", folder / "exact.onnx", "--passes", "exact", "--report", pages["exact"])
        recast("report", exact, "-o", pages["redundant"])
        recast("convert", "models/fp8_qdq.onnx", "models/subbyte_quant.onnx", "--opset", 9, "--dry-run", "--report", pages["refused"], codes=[1])
        recast("convert", "models/transformer_fp16.onnx", "--opset", 15, "--dry-run", "--report", pages["convert"])
        carried = folder / "carried.onnxtxt"
        carried.write_text(CARRIED)
        recast("convert", carried, "--opset", 18, "--dry-run", "--report", pages["carried"])
        recast("convert", carried, "--target", "openvino@2026.4", "--dry-run", "--report", pages["guarded"])
        narrow = folder / "narrow.onnxtxt"
        narrow.write_text(PRECISION)
        recast("precision", narrow, "--to", "FLOAT16", "-o", folder / "narrow.onnx", "--verify", "--report", pages["precision"])
        many = folder / "many.onnxtxt"
        weights = ", ".join(f"float[2] w{n} = {{{n}.1, 2}}" for n in range(25))
        sums = " ".join(f"a{n + 1} = Add (a{n}, w{n})" for n in range(25))
        many.write_text(f'<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) <{weights}> {{ a0 = Neg (x) {sums} y = Abs (a25) }}')
        recast("precision", many, "--to", "FLOAT16", "-o", folder / "many.onnx", "--report", pages["constants"])
        recast("lint", "models", "--select", "ALL", "--isolated", "--exit-zero", "--report", pages["lint"])
        shutil.copy(ROOT / "models/fp8_qdq.onnx", folder / "m.onnx")
        (folder / "m.onnx.data").write_bytes(bytes(4))
        recast("lint", folder / "m.onnx", "--fix", "--select", "RC101", "--report", pages["fixed"])
        recast("report", "models/fp8_qdq.onnx", "-o", pages["report"])
        recast("report", "models/transformer_fp16.onnx", folder / "folded.onnx", "-o", pages["diff"])
        recast("report", "models/fp8_qdq.onnx", "models/fp8_qdq.onnx", "-o", pages["equal"])
        (folder / "unreadable.onnx").write_bytes(b"\x3a\xff\xff\xff\x0fmodel")
        recast("fold", folder / "unreadable.onnx", "-o", folder / "none.onnx", "--report", pages["unreadable"], codes=[2])
        plain = folder / "plain.onnxtxt"
        plain.write_text(text_model("[NAME] a = Cast <to = 10> (w) [other] b = Cast <to = 10> (x) y = Add (a, b)"))
        recast("convert", plain, "--opset", 20, "-o", folder / "hostile.onnx")
        name = "".join(HOSTILE).encode()
        plant(folder / "hostile.onnx", b"NAME", name)
        recast("report", folder / "hostile.onnx", "-o", pages["hostile"])
        big = folder / "big.onnxtxt"
        casts = " ".join(f"[layers.{n}.cast] h{n} = Cast <to = {10 if n % 2 else 1}> (h{n - 1})" for n in range(1, 50_000))
        big.write_text(text_model(f"h0 = Relu (x) {casts} y = Relu (h49999)"))
        recast("report", big, "-o", pages["big"])
        (folder / "long.onnx").write_bytes((folder / "hostile.onnx").read_bytes())
        plant(folder / "long.onnx", name, b"n" * LONG)
        recast("report", folder / "long.onnx", "-o", pages["long"])
        pages["fleet"] = folder / "fleet.html"
        pages["fleet"].write_text(fleet_page())

        found = {name: check(page) for name, page in pages.items() if name not in ("big", "fleet")}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["big"] = check(pages["big"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        for name in ["fold", "exact", "precision", "lint", "report", "refused", "blocked", "long"]:
            check_narrow(pages[name], folder)
        for name in ["fold", "exact", "precision", "refused", "blocked", "carried", "guarded", "constants", "lint", "fixed", "report", "diff", "fleet"]:
            check_axe(pages[name], folder)
            check_axe(pages[name], folder, 360)
        for name in ["fold", "lint", "fleet"]:
            check_axe(pages[name], folder, 1280, "--blink-settings=preferredColorScheme=0")
        blocked = content(pages["blocked"])["convert"][0]
        expect("blocked: nearest", found["blocked"]["numbers"].get(f"nearest.{blocked['path']}"), blocked["nearest_opset"])
        says = [f"Cannot convert from opset 19 to 1: {len(blocked['blockers'])} unsupported nodes.", f"The lowest opset that works is {blocked['nearest_opset']}."]
        expect("blocked: says", [one in found["blocked"]["text"] for one in says], [True, True])
        verified = content(pages["fold"])["fold"][0]["verified"]
        expect("fold: verified", f"Verified {verified['nodes']} nodes and {verified['constants']} new constants" in found["fold"]["text"], True)
        answers = {
            "fold": "14 casts, 8 folded: 35.6 KiB → 19.0 KiB. Runs on onnxruntime 1.16 or later, ",
            "exact": "3 casts, 0 folded, 2 other nodes computed, 1 node changed: 352 B → 269 B.",
            "convert": "From opset 19 to 15: 2 nodes replaced by several. Runs on ",
            "blocked": "The lowest opset that works is 7.\n\nAs it is, the model runs on onnxruntime 1.16 or later, ",
            "refused": "2 of 2 models cannot be converted.",
            "precision": "values in FLOAT16, ",
            "lint": " in 6 of 7 models.",
            "fixed": "1 fixed",
            "report": "3 casts, 3 can be folded: ",
            "diff": "24 differences. Both run on onnxruntime ",
            "equal": "The models do not differ. Both run on onnxruntime ",
            "redundant": "2 casts change nothing: the exact passes remove them.",
        }
        for name, answer in answers.items():
            expect(f"{name}: answer", answer if answer in found[name]["text"] else found[name]["text"][:400], answer)
        expect("unreadable: error", "is not an ONNX model: the field is longer than the message" in found["unreadable"]["text"], True)
        folded = "openvino, opencv compute something else. Folded, it also runs on openvino 2026.4"
        expect("report: runtimes", folded in found["report"]["text"], True)
        sections = ["Inputs and outputs", "Outcomes and reasons", "Bytes by element type", "Places"]
        positions = [found["fold"]["text"].index(f"\n{one}\n") for one in sections]
        expect("fold: order of sections", positions, sorted(positions))
        expect("fold: names of dimensions", "tensor(float)[batch,tokens,32]" in found["fold"]["text"], True)
        reasons = ["the cast changes nothing: 'u' is used in its place", "merged into 'w1'", "redundant-casts: changes-nothing"]
        expect("exact: reasons", [one in found["exact"]["text"] for one in reasons], [True] * 3)
        size = pages["long"].stat().st_size
        expect(f"long: {size} bytes", size < LONG // 10 and len(found["long"]["text"]) < 20_000, True)
        expect("fold: drawn", found["fold"]["drawn"] > 2, True)
        expect("exact: computed and changed", [word in found["exact"]["text"] for word in ("Add to INT64", "from FLOAT16 directly")], [True, True])
        expect("carried", "1 value with a wider type" in found["carried"]["text"], True)
        expect("guarded", "openvino computes something else for TopK alone" in found["guarded"]["text"], True)
        expect("fixed: data file", "m.onnx.data" in found["fixed"]["text"], True)
        tensors = content(pages["precision"])["precision"][0]["tensors"]
        for tensor in content(pages["constants"])["precision"][0]["tensors"]:
            expect("constants: elements", found["constants"]["numbers"].get(f"tensors.{tensor['tensor']}.elements"), 2)
        expect("constants: beyond the first 20", "\n5 constants more\n" in found["constants"]["text"], True)
        for tensor in tensors:
            for key in ("elements", "overflowed", "became_zero", "became_subnormal"):
                expect(f"precision: {key}", found["precision"]["numbers"].get(f"tensors.{tensor['tensor']}.{key}"), tensor[key])
        expect("precision: losses", [(sum(one[key] for one in tensors)) for key in ("overflowed", "became_zero")], [1, 1])
        expect("precision: bound", "±32752" in found["precision"]["text"], True)
        expect("equal", "The models do not differ." in found["equal"]["text"], True)
        expect("hostile: shown", "\\u{202e}" in found["hostile"]["text"] and "</script><img" in found["hostile"]["text"], True)
        expect("hostile: hidden characters", [c for c in "\u202e\u2028\u200d" if c in found["hostile"]["text"]], [])
        dark = probed(pages["fold"], "--blink-settings=preferredColorScheme=0")["background"]
        expect("the dark page differs", dark == found["fold"]["background"], False)
        expect(f"big: {seconds:.1f} s of processor time", seconds < MOST_SECONDS, True)
        ready, search = found["big"]["ready"], found["big"]["search"]
        size = pages["big"].stat().st_size / 1e6
        print(f"50,000 nodes: {size:.1f} MB, ready after {ready:.0f} ms, search in {search:.0f} ms; {seconds:.1f} s of processor time")
    print(f"{cases} cases, {len(failures)} failed", *failures, sep="\n")
    sys.exit(1 if failures else 0)


main()
