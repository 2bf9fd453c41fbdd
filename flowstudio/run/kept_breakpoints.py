"""Breakpoints on disk: they belong to the flow's file and outlive runs, reloads and the program.

One small JSON file per flow in the state folder, named after the flow and a digest of its path:

    {"format": 1, "flow": "/home/ada/skills/review/SKILL.md",
     "breakpoints": [{"node": "check", "break": "after choice = No"}]}
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flowstudio import paths
from flowstudio.run.breakpoints import Breakpoint, parse_breakpoint
from flowstudio.run.conditions import ConditionError
from flowstudio.run.folder import write_safely
from flowstudio.text import to_json


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    node: str
    text: str = Field(default="before", alias="break")


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal[1]
    breakpoints: list[_Entry]


def breakpoints_file(flow: Path) -> Path:
    """Where the breakpoints of the flow in this file are kept."""
    place = str(flow.absolute())
    digest = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    stem = flow.parent.name if flow.stem.upper() == "SKILL" else flow.stem
    name = re.sub(r"\W+", "-", stem)[:40].strip("-") or "flow"
    return paths.state_file().parent / "breakpoints" / f"{name}-{digest}.json"


def load_breakpoints(flow: Path) -> tuple[tuple[Breakpoint, ...], str]:
    """The breakpoints kept for a flow, and a sentence on what could not be read (else empty).

    Never raises: what is broken costs its own breakpoints alone.
    """
    file = breakpoints_file(flow)
    try:
        kept = _File.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return (), ""
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        return (), f"The breakpoints in {file} were not read: {reason}"
    except OSError as error:
        return (), f"The breakpoints in {file} were not read: {error.strerror or error}"
    points: list[Breakpoint] = []
    problem = ""
    for entry in kept.breakpoints:
        try:
            points.append(parse_breakpoint(entry.node, entry.text))
        except ConditionError as error:
            problem = f"A breakpoint in {file} was not read: “{entry.text}”: {error}"
    return tuple(points), problem


def rename_in_kept(flow: Path, old: str, new: str) -> int:
    """Move the breakpoints of a node that has another id now; gives how many there were.

    Raises:
        OSError: the disk refuses.
    """
    points, problem = load_breakpoints(flow)
    moved = [replace(point, node=new) if point.node == old else point for point in points]
    count = sum(point.node == old for point in points)
    if count and not problem:
        keep_breakpoints(flow, moved)
    return 0 if problem else count


def keep_breakpoints(flow: Path, points: Iterable[Breakpoint]) -> None:
    """Write down the breakpoints of a flow, in place of those kept so far.

    Raises:
        OSError: the disk refuses.
    """
    file = breakpoints_file(flow)
    entries = [{"node": point.node, "break": point.text} for point in points]
    if not entries:
        file.unlink(missing_ok=True)
        return
    record = {"format": 1, "flow": str(flow.absolute()), "breakpoints": entries}
    file.parent.mkdir(parents=True, exist_ok=True)
    write_safely(file, to_json(record, indent=2) + "\n")
