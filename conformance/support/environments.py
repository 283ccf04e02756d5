"""Python environments besides the one of the conformance run."""

import shutil
import subprocess
import sys


def make_environment(folder, requirements, *options, finish=None):
    """The Python of an environment with the packages of a file, and what `finish` adds; it is made again if the file changed."""
    python, installed = folder / "bin/python", folder / "installed.txt"
    if not is_copy(installed, requirements):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip_install(python, *options, "--requirement", requirements, check=True)
        if finish:
            finish()
        shutil.copyfile(requirements, installed)
    return python


def is_copy(copy, original):
    return copy.is_file() and copy.read_text() == original.read_text()


def name_made(part, folder):
    """Gives a folder that is complete its name. If another process, which makes the same, was faster, its folder stays."""
    try:
        part.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(part)


def pip_install(python, *arguments, **options):
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, stdout=sys.stderr, **options)
