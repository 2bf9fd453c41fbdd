"""Where the scenes play: a home and a work folder of their own, in which no time passes."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TextArea

from flowstudio.run import attach_client, folder, runner
from flowstudio.soul import dispatch
from flowstudio.studio import history_screen, review_dialog, top_line
from flowstudio.wire import Wire
from tests.studio.kit import BROKEN, DEMO, NOTES, write_skill

REPOSITORY = Path(__file__).parents[2]


class FrozenTime:
    """The `time` module of somebody for whom no time passes."""

    @staticmethod
    def time() -> float:
        return 1_700_000_000.0

    monotonic = time


class FrozenProcess:
    """The `os` module of somebody who tells others which process they are."""

    @staticmethod
    def getpid() -> int:
        return 4711


class FrozenDate(datetime):
    """A calendar with one moment."""

    @classmethod
    def now(cls, tz: Any = None) -> FrozenDate:
        return cls(2023, 11, 14, 22, 13, 20, tzinfo=tz)


TEA = """\
---
name: {name}
description: {about}
{fields}---

Do it.
"""


@contextlib.contextmanager
def place_for(walk: str) -> Iterator[Path]:
    """An empty folder, always by the same name, since paths are seen in some scenes.

    Whoever else follows the same walk at the same time waits for it.
    """
    folder = Path("/tmp/flowstudio-scenes") / walk.replace(" ", "-")
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def set_stage(tmp: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make the folders, stop the clocks; the work folder with its skills."""
    home, work = tmp / "scene-home", tmp / "scene" / "project"
    home.mkdir()
    patch.setenv("HOME", str(home))
    patch.setenv("FLOWSTUDIO_HOME", str(home / "flowstudio"))
    patch.setenv("FLOWSTUDIO_TRUST", "/")
    patch.setenv("TEXTUAL_ANIMATIONS", "none")
    for name in ("NO_COLOR", "FLOWSTUDIO_CONFIG", "FLOWSTUDIO_MODEL", "EDITOR", "VISUAL"):
        patch.delenv(name, raising=False)
    bundled = tmp / "scene-bundled"
    shutil.copytree(REPOSITORY / "skills" / "tour", bundled / "tour")
    places = {"skills": bundled, "themes": REPOSITORY / "themes"}
    patch.setattr("flowstudio.paths.bundled", places.__getitem__)
    patch.setattr("flowstudio.mindflow.opening.choose_embedder", lambda name: None)
    for module in (top_line, runner, dispatch, review_dialog):
        patch.setattr(module, "time", FrozenTime)
    patch.setattr(attach_client, "os", FrozenProcess)
    patch.setitem(Wire.__init__.__kwdefaults__, "now", FrozenTime.time)
    patch.setattr(history_screen, "when", lambda *_: "just now")
    patch.setattr(folder, "datetime", FrozenDate)
    count = itertools.count(1)
    patch.setattr(folder.secrets, "token_hex", lambda size=2: f"{next(count):0{2 * size}x}")
    for widget, blink in ((Input, "_toggle_cursor"), (TextArea, "_toggle_cursor_blink_visible")):
        patch.setattr(widget, blink, lambda self: None)
    (work / ".git").mkdir(parents=True)
    write_skill(work, DEMO)
    write_skill(work, BROKEN, "broken")
    write_skill(work, NOTES, "notes")
    for name, fields, about in (
        ("boil", "preconditions: [has_kettle]\neffects: [has_water]\n", "Boil water."),
        ("brew", "preconditions: [has_water]\neffects: [has_tea]\n", "Brew a pot of tea."),
    ):
        write_skill(work, TEA.format(name=name, about=about, fields=fields), name)
    return work
