"""Outputs that are too long for the model: each in a file of its own, which the agent may read."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Outputs:
    """A temporary folder, made at its first use. It goes with this object, or with the program."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        """Where the files lie; None before the first one."""

    def keep(self, name: str, data: bytes) -> Path:
        """Put an output into a file whose name begins with `name`, and say where.

        Raises:
            OSError: it cannot be written.
        """
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="flowstudio-")).resolve()
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        safe = "".join(char if char.isalnum() or char in "-_" else "-" for char in name)[:40]
        handle, path = tempfile.mkstemp(prefix=f"{safe}-", suffix=".txt", dir=self.folder)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        return Path(path)

    def holds(self, place: Path) -> bool:
        """True for a file that was kept here."""
        return self.folder is not None and place.is_relative_to(self.folder)
