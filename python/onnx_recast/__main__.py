"""The command ``recast``."""

import sys

from onnx_recast._recast import run_command


def main() -> None:
    """Run the command with the arguments of this process, and exit with its code."""
    sys.exit(run_command(["recast", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
