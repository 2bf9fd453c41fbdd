"""Folders that go and come back at once: what is in the new one is watched, too."""

from __future__ import annotations

import asyncio
import gc
import shutil
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowstudio.skill import discover, refresh, watching
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


class Slow:
    """A notifier whose thread is late: it is closed before it looks."""

    def __init__(self) -> None:
        self.is_asked, self.is_closed = threading.Event(), threading.Event()

    def watch(self, debounce: int, step: int, timeout: int, stop: threading.Event) -> str:
        self.is_asked.set()
        stop.wait(PATIENCE)
        self.is_closed.wait(PATIENCE)
        raise RuntimeError("closed")

    def close(self) -> None:
        self.is_closed.set()


async def test_a_watch_that_is_cancelled_twice_ends_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the studio's is, when it is closed: what an abandoned thread raises is nobody's news."""
    said: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: said.append(context))
    slow = Slow()
    monkeypatch.setattr(watching, "_open", lambda _: slow)
    changes = watch(discover(tmp_path))
    task = asyncio.ensure_future(anext(changes))
    assert await asyncio.to_thread(slow.is_asked.wait, PATIENCE)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(task, return_exceptions=True)
    assert slow.is_closed.is_set()
    await loop.shutdown_default_executor()
    del task, changes  # what is not heard is told of once nobody can hear it any more
    await asyncio.sleep(0)
    gc.collect()
    assert said == []
