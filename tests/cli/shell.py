"""The program as a shell starts it, with nothing of the user's around it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

from flowstudio.cli import main

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
SCRIPTS = CORPUS / "scripts"

LONGEST = 60.0
"""Seconds until a process that hangs fails its test."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command printed, and its exit status."""

    status: int
    raw_out: bytes
    raw_err: bytes

    @property
    def out(self) -> str:
        return self.raw_out.decode("utf-8")

    @property
    def err(self) -> str:
        return self.raw_err.decode("utf-8")

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as one JSON object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs commands with `cwd` as home and as the folder to work in."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.env: dict[str, str] = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(cwd / "home"),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "FLOWSTUDIO_HOME": str(cwd / "flowstudio-home"),
            # Whoever tests trust takes this away.
            "FLOWSTUDIO_TRUST": "/",
        }

    def __call__(self, *argv: str | Path, env: Mapping[str, str] | None = None) -> Done:
        """Run `flowstudio ARGV...`. No command may ever end in a traceback."""
        process = self.start(*argv, env=env)
        try:
            out, err = process.communicate(timeout=LONGEST)
        finally:
            process.kill()
        done = Done(process.returncode, out, err)
        assert b"Traceback" not in err, done.err
        assert b"Exception ignored" not in err, done.err
        return done

    def inside(self, *argv: str | Path) -> Done:
        """The same in this process, which has the providers imported already: much faster."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with (
            contextlib.chdir(self.cwd),
            mock.patch.dict(os.environ, self.env, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                status = main([str(part) for part in argv])
            except SystemExit as end:
                status = int(end.code or 0)
            out.flush()
            err.flush()
        buffers = (cast("io.BytesIO", stream.buffer) for stream in (out, err))
        return Done(status, *(buffer.getvalue() for buffer in buffers))

    def start(
        self, *argv: str | Path | bytes, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start `flowstudio ARGV...` without waiting for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "flowstudio", *argv],
            cwd=self.cwd,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    @property
    def runs(self) -> list[Path]:
        """The folders of the runs that were made, in order."""
        folder = self.cwd / "flowstudio-home" / "data" / "runs"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def configure(self, text: str) -> None:
        """Write the configuration file."""
        file = self.cwd / "flowstudio-home" / "config" / "config.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
