"""What tests of skills that call skills share: a call, and what was noted of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flowstudio.mindflow.called_words import name_tool
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.usage import UsageLog
from tests.servers.scripted import Call


def call(name: str, **more: Any) -> Call:
    return Call(name_tool(name), {"request": f"do {name}", **more})


def uses_in(file: Path) -> dict[str, tuple[int, int, int]]:
    """By skill, how often it was done, done in part, and failed."""
    with Database(file) as database:
        found = UsageLog(database).of_skills()
    return {one.skill: (one.done, one.partial, one.failed) for one in found}
