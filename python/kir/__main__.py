"""The command kir of an installed package, and python -m kir: hand everything to the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from ._program import Error, find, own


def main() -> int:
    """Run the program with the arguments of this process, and return its exit status."""
    try:
        program = own() or find()  # KIR and the PATH may lead to the very command that runs this
    except Error as e:
        sys.stderr.write(f"kir: {e}\n")
        return 1
    command = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program answers it
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
