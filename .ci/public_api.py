"""The public API of each crate: a listing of its names, and types in its signatures that another crate cannot name.

    .ci/public_api.py           compares the listings with those in .ci; exit code 1: one differs, or a type cannot be named
    .ci/public_api.py --write   writes the listings

Both come from rustdoc's JSON, whose format changes with the compiler: FORMAT is the one that this script reads.
"""

import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTINGS = {
    "onnx-recast": ROOT / ".ci/public_api.txt",
    "onnx-cast": ROOT / ".ci/public_api_onnx_cast.txt",
    "onnx-operators": ROOT / ".ci/public_api_onnx_operators.txt",
}
# The most public names that a crate may have besides the messages that prost generates.
MOST = {"onnx-recast": 900}
# The crates of which others re-export items.
EXPORTED = ("onnx_cast", "onnx_operators")
FORMAT = 57


def main():
    results = [check(package, listing) for package, listing in LISTINGS.items()]
    sys.exit(0 if all(results) else 1)


def check(package, path):
    """Whether the listing is right, and all types can be named."""
    api = Api(documentation(package), package.replace("-", "_"))
    listing = "".join(f"{line}\n" for line in api.listing())
    unnameable = api.unnameable()
    for path, users in sorted(unnameable.items()):
        print(f"{path} is not public, but in the signature of {', '.join(sorted(users))}")
    if "--write" in sys.argv[1:]:
        path.write_text(listing)
    stated = path.read_text() if path.exists() else ""
    sys.stdout.writelines(difflib.unified_diff(stated.splitlines(True), listing.splitlines(True), path.name, "found"))
    own = sum(not is_generated(line) for line in listing.splitlines())
    is_small = own <= MOST.get(package, own)
    print(f"public API of {package}: {own} names besides generated messages, {len(unnameable)} types in signatures that cannot be named")
    if not is_small:
        print(f"{package} may have {MOST[package]} names; what only this repository uses is pub(crate), or in front_ends or internals")
    return not unnameable and stated == listing and is_small


def is_generated(line):
    """Whether a line is about the messages that prost generates, or a name for one of them."""
    return "::proto::raw" in line or re.fullmatch(r"onnx_recast::proto::\S+ \(type alias\)|onnx_recast::proto::\w+_proto \(module\)", line) is not None


def documentation(package):
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
    command = ["cargo", "rustdoc", "--quiet", "--package", package, "--lib", "--", "-Zunstable-options", "--output-format", "json"]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"RUSTDOC": str(ROOT / ".ci/unstable_rustdoc")})
    document = json.loads((target / f"doc/{package.replace('-', '_')}.json").read_text())
    if document["format_version"] != FORMAT:
        sys.exit(f"rustdoc's JSON has format {document['format_version']}; this script reads format {FORMAT}")
    return document


class Api:
    def __init__(self, document, crate):
        self.items, self.paths = document["index"], document["paths"]
        # The shortest public path of each item of another crate of this repository; its members are in the listing of that crate.
        self.exported = {}
        # The public path of each item that other crates can name: the shortest one.
        self.names = {}
        self.visit_module(document["root"], crate)

    def item(self, number):
        """An item with its kind and content; nothing for those of other crates."""
        item = self.items.get(str(number))
        if item is None:
            return None, None, None
        kind, content = next(iter(item["inner"].items()))
        return item, kind, content

    def visit_module(self, number, path):
        item, _, content = self.item(number)
        if "doc(hidden)" in str(item["attrs"]):
            return
        self.add(number, path)
        for child in content["items"]:
            self.visit(child, path)

    def visit(self, number, path):
        item, kind, content = self.item(number)
        if item is None or item["visibility"] != "public":
            return
        if kind == "use":
            target, target_kind, target_content = self.item(content["id"]) if content["id"] is not None else (None, None, None)
            if target is None:
                external = self.paths.get(str(content["id"]))
                if external and external["path"][0] in EXPORTED:
                    line = f"{path}::{content['name']} ({external['kind'].replace('_', ' ')})"
                    known = self.exported.get(content["id"], line)
                    self.exported[content["id"]] = min(known, line, key=lambda line: (line.count("::"), line))
                return
            if content["is_glob"]:
                for child in target_content.get("items", []):
                    self.visit(child, path)
            elif target_kind == "module":
                self.visit_module(content["id"], f"{path}::{content['name']}")
            else:
                self.add(content["id"], f"{path}::{content['name']}")
        elif kind == "module":
            self.visit_module(number, f"{path}::{item['name']}")
        else:
            self.add(number, f"{path}::{item['name']}")

    def add(self, number, path):
        known = self.names.get(str(number))
        if known is None or (path.count("::"), path) < (known.count("::"), known):
            self.names[str(number)] = path

    def members(self, number):
        """The public fields, variants, methods and associated items of a type or trait, and the traits of this crate that it implements."""
        _, kind, content = self.item(number)
        if kind == "struct":
            shape = content["kind"]
            fields = [] if isinstance(shape, str) else shape["plain"]["fields"] if "plain" in shape else shape["tuple"]
            yield from (field for field in fields if field is not None)
        elif kind == "enum":
            yield from content["variants"]
        elif kind == "trait":
            yield from content["items"]
        for block in content.get("impls", []) if kind in ("struct", "enum", "union") else []:
            _, _, block = self.item(block)
            if block is None or block["is_synthetic"] or block["blanket_impl"]:
                continue
            for member in block["items"]:
                item, member_kind, _ = self.item(member)
                if item and (member_kind == "assoc_type" if block["trait"] else item["visibility"] == "public"):
                    yield member

    def listing(self):
        lines = list(self.exported.values())
        for number, path in self.names.items():
            _, kind, content = self.item(number)
            lines.append(f"{path} ({kind.replace('_', ' ')})")
            for member in self.members(number):
                item, member_kind, member_content = self.item(member)
                if member_kind == "struct_field" and item["visibility"] != "public" and kind == "struct":
                    continue
                arguments = ""
                if member_kind == "function":
                    arguments = f"({', '.join(name for name, _ in member_content['sig']['inputs'])})"
                lines.append(f"{path}::{item['name']}{arguments}")
        return sorted(set(lines))

    def unnameable(self):
        """The types of this crate in public signatures that have no public path, each with the items that use it."""
        found = {}
        for number, path in self.names.items():
            for used in self.used_by(number):
                known = self.paths.get(used)
                if known and known["crate_id"] == 0 and used not in self.names:
                    found.setdefault("::".join(known["path"]), set()).add(path)
        return found

    def used_by(self, number):
        item, kind, content = self.item(number)
        if item is None:
            return set()
        if kind in ("struct", "enum", "union", "trait", "variant"):
            used = types(content.get("generics") or {}) if kind != "variant" else set()
            members = list(self.members(number)) if kind != "variant" else variant_fields(content)
            for member in members:
                other, member_kind, _ = self.item(member)
                is_private = member_kind == "struct_field" and kind == "struct" and other["visibility"] != "public"
                used |= set() if is_private else self.used_by(member)
            return used
        return set() if kind in ("module", "use", "macro") else types(content)


def variant_fields(content):
    shape = content["kind"]
    if isinstance(shape, str):
        return []
    fields = shape["tuple"] if "tuple" in shape else shape["struct"]["fields"]
    return [field for field in fields if field is not None]


def types(part):
    """The numbers of the types and traits in a part of a signature."""
    if isinstance(part, list):
        return set().union(*map(types, part))
    if not isinstance(part, dict):
        return set()
    found = set().union(*map(types, part.values()))
    for key in ("resolved_path", "trait"):
        if isinstance(part.get(key), dict) and "id" in part[key]:
            found.add(str(part[key]["id"]))
    return found


if __name__ == "__main__":
    main()
