"""The program pipeline itself: python -m photo_pipeline, or the script pipeline of the wheel."""

import os
import subprocess
import sys

from photo_pipeline.program import program


def main() -> None:
    """Becomes the program."""
    command = [program(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
