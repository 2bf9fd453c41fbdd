"""A fault in our own code is said on the screen, and the studio goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.studio import flow_layout
from tests.studio.kit import open_studio


async def test_a_fault_behind_a_key_is_said(work: Path) -> None:
    async with open_studio(work) as studio:

        async def fail(text: str) -> None:
            raise ZeroDivisionError("seven by zero")

        assert studio.main.driver.session is not None
        studio.main.driver.session.say = fail  # type: ignore[method-assign]
        await studio.type("hello")
        await studio.until(lambda: studio.toasts, "a sentence")
        assert studio.toasts == ["A fault in Flow Studio: ZeroDivisionError: seven by zero"]
        assert studio.faults
        studio.faults.clear()
        await studio.press("escape", "r")
        await studio.asked_at("good")


async def test_a_key_that_comes_before_the_flow_is_meant_for_it(work: Path) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("n")
        await studio.until(lambda: studio.phase == "paused", "a pause before the first prompt")


async def test_a_fault_in_the_drawing_stands_in_the_pictures_place(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("seven by zero")

    monkeypatch.setattr(flow_layout, "_lay_out", fail)
    async with open_studio(work, settle=False) as studio:
        await studio.until(lambda: "not drawn: ZeroDivisionError" in studio.text, "a sentence")
        studio.faults.clear()
