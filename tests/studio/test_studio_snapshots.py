"""How the main screen looks, kept as pictures: `pytest --snapshot-update` accepts new ones.

Nothing in them depends on the clock, the home folder, the locale or a blinking cursor.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from flowstudio.run import runner
from flowstudio.studio import top_line
from flowstudio.studio.app import StudioApp
from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.key_line import KeyLine
from flowstudio.studio.picture import until
from flowstudio.studio.screen import StudioScreen
from flowstudio.wire import Wire
from tests.studio.kit import DEMO, NOTES, write_skill

SIZES = [(80, 24), (120, 40), (200, 60)]
THEMES = ["studio-dark", "studio-light"]
SCRIPT = """\
default_task_reply: A draft of **three** lines.
decisions:
- {node: good, visit: 1, replies: [{text: "Fine.\\n\\n<choice>yes</choice>"}]}
- {node: good, visit: 2, replies: [{text: "Better.\\n\\n<choice>yes</choice>"}]}
"""
BROKEN = DEMO.replace("mend --> good", "mend[oops --> good")


class FrozenTime:
    """The `time` module of somebody for whom no time passes."""

    @staticmethod
    def time() -> float:
        return 1_700_000_000.0

    monotonic = time


@pytest.fixture
def app(
    work: Path, few_bundled_skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], StudioApp]:
    """A studio on a work folder with a flow and a standard skill, with scripted answers."""
    for module in (top_line, runner):
        monkeypatch.setattr(module, "time", FrozenTime)
    monkeypatch.setitem(Wire.__init__.__kwdefaults__, "now", FrozenTime.time)
    shutil.rmtree(few_bundled_skills)
    write_skill(work, NOTES, "notes")
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    monkeypatch.chdir(work)

    def make(theme: str, text: str = DEMO) -> StudioApp:
        write_skill(work, text)
        folder = work / ".agents" / "skills" / "demo"
        return StudioApp(StudioOptions(path=folder, script=script, theme=theme))

    return make


async def settle(pilot: Pilot[None]) -> StudioScreen:
    screen = pilot.app.screen
    assert isinstance(screen, StudioScreen)
    await until(pilot, lambda: screen.is_settled, "the flow on the screen")
    await until(pilot, lambda: bool(screen.query_one(KeyLine).keys), "the keys")
    return screen


async def still(pilot: Pilot[None]) -> None:
    """Wait until nothing moves any more: the log has its end in view."""
    before = ""
    for _ in range(50):
        now = pilot.app.export_screenshot()
        if now == before:
            return
        before = now
        await pilot.pause(0.1)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
class TestMainScreen:
    """The main screen, by size and theme."""

    def test_idle(self, app: Any, snap_compare: Any, size: tuple[int, int], theme: str) -> None:
        async def before(pilot: Pilot[None]) -> None:
            await settle(pilot)
            await still(pilot)

        assert snap_compare(app(theme), terminal_size=size, run_before=before)

    def test_paused_with_a_forced_branch(
        self, app: Any, snap_compare: Any, size: tuple[int, int], theme: str
    ) -> None:
        async def before(pilot: Pilot[None]) -> None:
            screen = await settle(pilot)
            for key in ("n", "n", "n", "2", "n"):
                await pilot.press(key)
                await until(pilot, lambda: screen.waits_for_user, f"a pause after {key}")
            await still(pilot)

        assert snap_compare(app(theme), terminal_size=size, run_before=before)

    def test_a_broken_file(
        self, app: Any, snap_compare: Any, size: tuple[int, int], theme: str
    ) -> None:
        async def before(pilot: Pilot[None]) -> None:
            await settle(pilot)
            await still(pilot)

        assert snap_compare(app(theme, BROKEN), terminal_size=size, run_before=before)
