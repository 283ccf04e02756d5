"""The Python package: the wheel in the folder `wheels` of the target folder, which .ci/wheel builds if there is none, or the package in the
folder ONNX_RECAST."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.common import CACHE, ROOT


def use_package():
    """Makes `import onnx_recast` work, in the processes of a fleet, too."""
    folder = package_folder()
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = folder


def package_folder():
    """A folder with the Python package."""
    if given := os.environ.get("ONNX_RECAST"):
        return str(Path(given).absolute())
    wheels = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wheels"
    if not list(wheels.glob("*.whl")):
        subprocess.run([ROOT / ".ci/wheel"], check=True)
    folder = CACHE / "package"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder]
    subprocess.run([*command, *wheels.glob("*.whl")], check=True)
    return str(folder)
