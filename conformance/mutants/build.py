"""A copy of the source in which all mutants of the sample are compiled."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from mutants.schemata import Source, Unfit, mutants_at

ROOT = Path(__file__).resolve().parents[2]
MODULE = Path(__file__).with_name("mutant.rs")
# The crates, and their source folders.
CRATES = {"onnx-recast": "src", "onnx-cast": "crates/onnx-cast/src"}
# The areas of ARCHITECTURE.md that read, change and write models, and their folders.
AREAS = {
    area: f"src/{area}"
    for area in ("passes", "casts", "ops/compute", "tensor", "protobuf", "files", "storage", "graph", "precision", "convert/adapters")
} | {"onnx-cast": CRATES["onnx-cast"]}
SHARD = "3/17"
# Not compiled on Unix.
OTHER_PLATFORMS = ("src/files/other.rs", "src/files/folders/other.rs")
# Changes of one line that an earlier verification accepted.
ALWAYS = (
    ("src/passes/identity.rs", "replace keeps_order -> bool with true"),
    ("crates/onnx-cast/src/cast/exactness.rs", "replace match guard !embeds(from, middle) with false in collapses"),
    ("src/ops/compute/elementwise.rs", "14:65: replace + with -"),
)
CALL_IN_CONSTANT = re.compile(r"non-const (?:associated )?(?:function|method) `(?:[^`]*::)?(\w+)(?:::<[^`]*>)?`")


def sample():
    """The mutants of the shard, and those of `ALWAYS`, numbered."""
    shard = listed("--sharding", "round-robin", "--shard", SHARD)
    names = {mutant["name"] for mutant in shard}
    added = [each for each in listed() if each["name"] not in names and is_always(each)]
    return [{**mutant, "number": number} for number, mutant in enumerate(shard + added, 1)]


def is_always(mutant):
    return any(mutant["file"] == file and mutant["name"].endswith(end) for file, end in ALWAYS)


def listed(*options):
    files = [option for area in AREAS.values() for option in ("-f", f"{area}/**")]
    packages = [option for crate in CRATES for option in ("--package", crate)]
    command = ["cargo", "mutants", "--list", "--json", "--no-config", *packages, *files, *options]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return [{key: mutant[key] for key in ("file", "genre", "name", "replacement", "span")} for mutant in mutants]


def area_of(mutant):
    return next(area for area, folder in AREAS.items() if mutant["file"].startswith(f"{folder}/"))


def build(folder):
    """Compiles all mutants that are chosen at run time. Writes mutants.json, in which the others have a reason."""
    source = folder / "source"
    copy_tree(source)
    mutants = sample()
    while True:
        written = write(source, mutants)
        errors = check(source, folder)
        if not errors:
            break
        unfit = {}
        for error in errors:
            for number in numbers_of(error, source, written, mutants):
                unfit[number] = f"does not compile: {error['message']}"
        if not unfit:
            raise RuntimeError("\n".join(error["rendered"] for error in errors))
        for mutant in mutants:
            if mutant["number"] in unfit:
                mutant["why_not"] = unfit[mutant["number"]]
        print(f"{len(unfit)} mutants do not compile", flush=True)
    (folder / "mutants.json").write_text(json.dumps(mutants, indent=1))
    fit = [mutant for mutant in mutants if "why_not" not in mutant]
    print(f"{len(fit)} of {len(mutants)} mutants are chosen at run time", flush=True)
    cargo(source, folder, "build", "--release", "--bin", "recast", check=True)


def copy_tree(source):
    """The files of the repository; those that are equal keep their times."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in names.split("\0")[:-1]:
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            if not name.startswith(tuple(CRATES.values())):
                put(source / name, (ROOT / name).read_bytes())
                shutil.copymode(ROOT / name, source / name)


def put(path, data):
    if not path.is_file() or path.read_bytes() != data:
        path.write_bytes(data)


def write(source, mutants):
    """Writes the sources with all mutants that have no reason why not; returns the files with mutants, by name."""
    files = {str(path.relative_to(ROOT)): path.read_bytes() for path in source_files()}
    sources = {}
    for mutant in mutants:
        if "why_not" in mutant:
            continue
        file = mutant["file"]
        if file in OTHER_PLATFORMS:
            mutant["why_not"] = "not compiled on Unix"
            continue
        if file not in sources:
            sources[file] = Source(file, files[file].decode())
        try:
            sources[file].add(mutant)
        except Unfit as reason:
            mutant["why_not"] = str(reason)
    files |= {name: each.rendered() for name, each in sources.items()}
    for folder in CRATES.values():
        name = f"{folder}/lib.rs"
        files[name] = files[name].replace(b"\nmod ", b"\n#[doc(hidden)]\npub mod mutant;\nmod ", 1)
        files[f"{folder}/mutant.rs"] = MODULE.read_bytes()
    for name, data in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        put(source / name, data)
    return sources


def source_files():
    return [path for folder in CRATES.values() for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]


def cargo(source, folder, *arguments, **options):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    return subprocess.run(["cargo", *arguments], cwd=source, env=environment, **options)


def check(source, folder):
    """The errors of the compiler."""
    done = cargo(source, folder, "check", "--lib", "--message-format", "json", stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [each["message"] for each in messages if each["reason"] == "compiler-message"]
    return [each for each in found if each["level"] == "error" and each["spans"]]


def numbers_of(error, source, written, mutants):
    """The mutants that an error is about."""
    numbers = set()
    for file in {span["file_name"] for span in error["spans"]} & written.keys():
        spans = [(span["byte_start"], span["byte_end"]) for span in error["spans"] if span["file_name"] == file]
        numbers |= mutants_at((source / file).read_bytes(), spans)
    if not numbers and (call := CALL_IN_CONSTANT.search(error["message"])):
        for each in written.values():
            numbers |= {number for number, function in each.constant_functions.items() if is_named(function, call[1])}
    return numbers


def is_named(function, name):
    return function.child_by_field_name("name").text.decode() == name
