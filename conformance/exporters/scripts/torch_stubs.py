"""Libraries that stand in for those of CUDA: PyPI has torch for Linux only with CUDA, whose libraries take gigabytes.

torch names them when it is loaded, and calls none of them as long as it computes on the CPU. Each function returns an error.
usage: torch_stubs.py FOLDER_OF_TORCH OUTPUT
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SYSTEM = ("ld-", "libc.", "libdl.", "libgcc_", "libgomp.", "libm.", "libpthread.", "librt.", "libstdc++")
CUDA = ("cu", "nccl", "nvrtc", "nvshmem")


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    libraries, output = sorted(Path(sys.argv[1], "lib").glob("*.so")), Path(sys.argv[2])
    needed, versioned, unversioned = set(), defaultdict(set), set()
    for library in libraries:
        needed |= {line.split("[")[1].split("]")[0] for line in lines("readelf", "-d", library) if "(NEEDED)" in line}
        for line in lines("nm", "-D", "--undefined-only", library):
            name, _, version = line.split()[-1].partition("@")
            if version:
                versioned[version.lstrip("@")].add(name)
            elif name.startswith(CUDA):
                unversioned.add(name)
    output.mkdir(parents=True, exist_ok=True)
    missing = sorted(name for name in needed - {library.name for library in libraries} if not name.startswith(SYSTEM))
    for index, name in enumerate(missing):
        versions = {version: names for version, names in versioned.items() if belongs(version, name)}
        if index == 0:
            versions["UNVERSIONED"] = unversioned
        build(output / name, versions)


def belongs(version, library):
    """Versions of symbols are named after their library; those of nvshmem are in capitals."""
    return version == library or library.startswith(f"lib{version.lower()}_")


def build(path, versions):
    versions = {version: sorted(names) for version, names in versions.items() if names}
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    source.write_text("".join(f"int {name}(void) {{ return 100; }}\n" for names in versions.values() for name in names) + "\n")
    script.write_text("".join(f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};\n" for version, names in versions.items()))
    options = [f"-Wl,--version-script={script}"] if versions else []
    subprocess.run(["cc", "-shared", "-fPIC", "-w", source, "-o", path, f"-Wl,-soname,{path.name}", *options], check=True)


main()
