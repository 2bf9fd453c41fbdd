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
from tests.studio.elsewhere import run_elsewhere
from tests.studio.kit import DEMO, FakeModel, Held, open_studio, write_skill

LONG = DEMO.replace("name: demo", "name: long").replace(
    "BEGIN([BEGIN]) --> write",
    "BEGIN([BEGIN]) --> n1\n"
    + "".join(f"    n{i}[Step {i}] --> n{i + 1}\n" for i in range(1, 30))
    + "    n30[Step 30] --> write",
)
"""The demo with thirty nodes before it."""


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
        assert "attached" in studio.main.top.model


async def test_the_node_where_the_joined_run_stands_is_brought_into_view(work: Path) -> None:
    held = Held("Done.")
    async with run_elsewhere(write_skill(work, LONG, "long"), FakeModel(n20=held)) as folder:
        await held.begun.wait()
        async with open_studio(work, attach=folder, model_name="rehearsal") as studio:
            await studio.until(lambda: held.first in studio.chat_text, "what streams there")
            await studio.until(lambda: studio.sees("n20"), "where it stands")
            assert studio.view.selected == "n20"
