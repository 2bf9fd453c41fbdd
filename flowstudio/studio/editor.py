"""The user's own editor, opened on a file with the studio suspended meanwhile."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path


def edit(file: Path) -> None:
    """Run `$VISUAL` or `$EDITOR` (else vi) on the file and wait until it is closed.

    Raises:
        OSError: there is no such editor; the message says what to set.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise OSError(f"{editor!r} cannot be started; set EDITOR to your editor") from error
