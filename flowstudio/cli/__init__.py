"""The commands that a shell user types.

`flowstudio [PATH]` opens the studio; `list`, `show`, `check`, `draw`, `run` and `explain` are its
headless twin for scripts and CI. Each command's module is imported when it is called, so that
`--help` and the headless commands never wait for a screen library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status."""
    from flowstudio.cli.parser import parse

    call = parse(sys.argv[1:] if argv is None else argv)
    try:
        return call.func(call)
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
