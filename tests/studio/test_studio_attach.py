"""The studio on a run that another process makes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowstudio.studio import setup
from tests.cli.held import HeldRun, furnish, hold
from tests.cli.shell import Shell
from tests.studio.kit import open_studio


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldRun]:
    yield from hold(furnish(Shell(tmp_path)))


async def test_a_run_that_is_joined_before_the_session_stands_is_there_when_it_does(
    held: HeldRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from the history, by whoever is quicker than the imports."""
    may_open = asyncio.Event()
    opens = setup.open_session

    async def open_late(*given: Any) -> Any:
        await may_open.wait()
        return await opens(*given)

    monkeypatch.setattr(setup, "open_session", open_late)
    cwd = held.shell.cwd
    async with open_studio(cwd / "round.mmd", cwd=cwd, settle=False) as studio:
        await studio.until(lambda: studio.main.furnished.is_set(), "the desks")
        studio.main.attaching.attach(held.folder)
        await studio.until(lambda: "attached" in studio.main.top.model, "what is joined")
        may_open.set()
        await studio.until(lambda: studio.main.driver.remote is not None, "the run")
        await studio.until(lambda: "breakpoint before" in studio.text, "where it stands")
