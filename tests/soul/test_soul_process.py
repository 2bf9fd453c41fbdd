"""Nothing that a command started lives on, whatever it was at when the command ended."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import pytest

from flowstudio.soul.tools import process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells of all processes")


def count_of(argument: str) -> int:
    """How many processes were started with this argument."""
    found = 0
    for entry in Path("/proc").iterdir():
        try:
            found += entry.name.isdigit() and argument.encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue
    return found


async def test_children_that_are_just_about_to_begin_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process has no variables, and so no mark, in the moment in which its program begins."""
    monkeypatch.setattr(process, "GRACE", 0.0)
    for _ in range(20):
        length = f"600.{secrets.randbelow(10**12)}"
        script = "for i in $(seq 16); do setsid sleep " + length + " & done"
        done = await process.run_process(
            ["sh", "-c", script], cwd=tmp_path, env=dict(os.environ), seconds=60
        )
        assert done.code == 0
        assert count_of(length) == 0
