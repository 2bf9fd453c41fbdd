"""The folder of a run: header, journal, context, and the flow's text at each revision.

runs/20260120-142501-3f2a/
    run.json         the header: what was started, with what, in which format
    journal.jsonl    every event, a line each (`run.journal`)
    context.jsonl    the agent's conversation (`soul.Context`)
    flow/1-SKILL.md  the flow's file as it was at revision 1, 2, …
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from flowstudio import __version__

FORMAT = 1
"""Version of the folder's format; raised when older programs could misread it."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a run was started with."""

    id: str
    flow: str
    path: str | None
    model: str
    input: str
    work_dir: str
    created: str
    """ISO 8601, UTC."""
    format: int = FORMAT
    program: str = f"flowstudio {__version__}"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run on disk."""

    path: Path
    header: Header

    @property
    def id(self) -> str:
        """The run's id, the folder's name."""
        return self.header.id

    @property
    def journal(self) -> Path:
        """The event records."""
        return self.path / "journal.jsonl"

    @property
    def context(self) -> Path:
        """The agent's conversation."""
        return self.path / "context.jsonl"

    def keep_revision(self, revision: int, name: str, text: str) -> None:
        """Keep the flow's file as it is at `revision`."""
        folder = self.path / "flow"
        folder.mkdir(exist_ok=True)
        write_safely(folder / f"{revision}-{name}", text)


def create_run(
    root: Path, *, flow: str, path: Path | None, model: str, input: str, work_dir: Path
) -> RunFolder:
    """Make the folder of a new run below `root`, its header on disk.

    Raises:
        OSError: the folder cannot be made.
    """
    now = datetime.now(UTC)
    run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    folder = root / run_id
    folder.mkdir(parents=True)
    created = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    header = Header(run_id, flow, str(path) if path else None, model, input, str(work_dir), created)
    text = json.dumps(asdict(header), ensure_ascii=False, indent=2)
    write_safely(folder / "run.json", text + "\n")
    return RunFolder(folder, header)


def open_run(path: Path) -> RunFolder:
    """Open the folder of an earlier run.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a run's folder, or of a newer format.
    """
    raw: object = json.loads((path / "run.json").read_text(encoding="utf-8"))
    if not isinstance(raw, dict):
        raise ValueError(f"{path}: not the header of a run")
    record = cast("dict[str, Any]", raw)
    if record.get("format", 0) > FORMAT:
        raise ValueError(f"{path}: made by a newer flowstudio; this one reads format {FORMAT}")
    try:
        return RunFolder(path, Header(**record))
    except TypeError as error:
        raise ValueError(f"{path}: not the header of a run: {error}") from error


def write_safely(path: Path, text: str) -> None:
    """Write a whole file so that a kill leaves the old one or the new one, never half of it."""
    draft = path.with_name(f".{path.name}.new")
    with draft.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
