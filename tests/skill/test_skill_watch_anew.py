"""Folders that go and come back at once: what is in the new one is watched, too."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from flowstudio.skill import discover, refresh
from flowstudio.skill.watching import watch

PATIENCE = 20.0


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: one\ndescription: {text}\n---\n", encoding="utf-8")
    return path


async def told(changes: AsyncIterator[set[Path]], path: Path) -> None:
    """Wait until a change of the file is told."""
    async with asyncio.timeout(PATIENCE):
        while path not in await anext(changes):
            pass


async def test_a_folder_that_is_made_anew_at_once_is_watched_on(tmp_path: Path) -> None:
    """The system may give it the number of the old one."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / ".agents" / "skills" / "one"
    path = write(folder, "first")
    catalogue = discover(tmp_path)
    changes = watch(catalogue)
    for number in range(5):
        shutil.rmtree(folder)
        write(folder, f"anew {number}")
        await told(changes, path)
        for words in ("edited", "edited again"):
            write(folder, f"{words} {number}")
            await told(changes, path)
    assert refresh(catalogue).at(path) is not None
    await changes.aclose()
