"""The commands that a shell user types.

`flowstudio [PATH]` opens the studio; `list`, `show`, `check`, `draw`, `run` and `explain` are its
headless twin for scripts and CI. Each command's module is imported when it is called, so that
`--help` and the headless commands never wait for a screen library.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal has no sign for is replaced, not a reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    from flowstudio.cli.parser import find_call

    call = find_call(sys.argv[1:] if argv is None else argv)
    try:
        status = call()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone.
        _drop_output()
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # A full disk behind `>`, a work folder that was deleted.
        _drop_output()
        from flowstudio.cli.output import fail

        return fail(str(error), "")
    return status


def _drop_output() -> None:
    """Keep Python from complaining at exit about output that nobody takes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
