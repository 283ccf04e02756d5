"""The command ``recast``."""

import sys

from onnx_recast._recast import run_command


def main() -> None:
    """Run the command with the arguments of this process, and exit with its code.

    ``recast fleet`` is :mod:`onnx_recast.fleet`; the other commands are those of the native module.
    """
    if sys.argv[1:2] == ["fleet"]:
        sys.exit(_fleet(sys.argv[2:]))
    sys.exit(run_command(["recast", *sys.argv[1:]]))


def _fleet(arguments: list[str]) -> int:
    try:
        from onnx_recast.fleet.__main__ import main as run
    except ModuleNotFoundError as error:
        package = (error.name or "onnx_recast").partition(".")[0]
        if package == "onnx_recast":
            raise
        print(f"fleet: {package} is not installed; pip install 'onnx-recast[fleet]'", file=sys.stderr)
        return 2
    return run(arguments)


if __name__ == "__main__":
    main()
