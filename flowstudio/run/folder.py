"""The folder of a run: header, journal, context, and the flow's text at each revision.

runs/20260120-142501-3f2a/
    run.json         the header: what was started, with what, in which format
    journal.jsonl    every event, a line each (`run.journal`)
    context.jsonl    the agent's conversation (`soul.Context`)
    flow/1-SKILL.md  the flow's file as it was at revision 1, 2, …
    lock             who writes the run (`run.lock`)
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from flowstudio import __version__
from flowstudio.text import to_json

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
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """What fills `{{name}}` in the prompts."""
    rounds: int | None = None
    """For a plain prompt the rounds that its Ralph loop may make; None for a flow."""
    seed: int | None = None
    """The seed of a rehearsed run: with it a resumed run walks on as it began."""
    script: str | None = None
    """The file of the answers of a rehearsed run."""
    parent: str | None = None
    """The run that this one was forked from."""
    parent_move: int | None = None
    """The move at which the two part: the first one that is this run's own."""


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """Who answers in a run, as its header says it: a resume asks the same."""

    model: str
    seed: int | None = None
    script: str | None = None


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

    @property
    def undo(self) -> Path:
        """What the tools wrote, with the text that stood there before (`soul.undo`)."""
        return self.path / "undo"

    def keep_revision(self, revision: int, name: str, text: str) -> None:
        """Keep the flow's file as it is at `revision`."""
        folder = self.path / "flow"
        folder.mkdir(exist_ok=True)
        write_safely(folder / f"{revision}-{name}", text)


def create_run(
    root: Path,
    *,
    flow: str,
    path: Path | None,
    model: str,
    input: str,
    work_dir: Path,
    variables: Mapping[str, str] | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    script: str | None = None,
) -> RunFolder:
    """Make the folder of a new run below `root`, its header on disk.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = new_folder(root)
    created = stamp_now()
    header = Header(
        folder.name,
        flow,
        str(path) if path else None,
        model,
        input,
        str(work_dir),
        created,
        variables=dict(variables or {}),
        rounds=rounds,
        seed=seed,
        script=script,
    )
    write_header(folder, header)
    return RunFolder(folder, header)


def stamp_now() -> str:
    """This moment as headers say it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def write_header(folder: Path, header: Header) -> None:
    """Put a header on disk; fields that say nothing are left out."""
    record = {key: value for key, value in asdict(header).items() if value is not None}
    record["path"] = header.path
    write_safely(folder / "run.json", to_json(record, indent=2) + "\n")


def new_folder(root: Path) -> Path:
    """Make an empty folder for a run, named by the moment; its name is on disk.

    Raises:
        OSError: it cannot be made.
    """
    root.mkdir(parents=True, exist_ok=True)
    folder = _make_new(root, f"{datetime.now(UTC):%Y%m%d-%H%M%S}")
    sync_folder(root)
    return folder


def open_run(path: Path) -> RunFolder:
    """Open the folder of an earlier run.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a run's folder, or of a newer format.
    """
    file = path / "run.json"
    try:
        raw: object = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not the header of a run: {error}") from error
    record = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    version = record.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise ValueError(f"{file}: made by a newer flowstudio; this one reads format {FORMAT}")
    try:
        return RunFolder(path, TypeAdapter(Header).validate_python(record))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{file}: not the header of a run: {where}: {first['msg']}") from error


def write_safely(path: Path, text: str) -> None:
    """Write a whole file so that a kill leaves the old one or the new one, never half of it."""
    draft = path.with_name(f".{path.name}.new")
    with draft.open("wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Return when the names in a folder are on disk for good (fsync)."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _make_new(root: Path, moment: str) -> Path:
    """A new folder for a run; several runs may begin in the same second."""
    while True:
        folder = root / f"{moment}-{secrets.token_hex(2)}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
