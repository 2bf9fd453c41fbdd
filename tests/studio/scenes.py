"""Every screen of the studio, and how a user gets there.

A walk opens the studio once and yields the name of a scene whenever one stands. Whoever follows a
walk may resize the terminal and change the theme meanwhile, and leaves both as they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kosong.message import TextPart, ToolCall
from textual.widgets import Input

from flowstudio.mindflow.changes import Change, FileChange
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.queue import ReviewQueue
from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.run.prompts import Missing
from flowstudio.studio.break_dialog import BreakDialog
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.dialogs import InputDialog, PromptDialog, TrustDialog
from flowstudio.studio.pick_dialogs import ChoiceDialog, NumberDialog, PointsDialog
from flowstudio.studio.source_dialogs import ConflictDialog, LeaveDialog, NameDialog
from flowstudio.studio.values_dialog import ValuesDialog
from flowstudio.wire import ChoiceMade, RunEnded
from tests.studio.kit import FakeModel, Held, Studio, choose

type Steps = Callable[[Studio], AsyncIterator[str]]

SPEECH = """\
## What is good

A **draft** of *three* lines with `code`, and [a link](https://example.org):

- short
- plain, 很好

| line | words |
|---|---|
| one | 7 |

```python
def mend(text: str) -> str:
    return text.strip()  # no more
```
"""


@dataclass(frozen=True, slots=True)
class Walk:
    """One start of the studio, and the scenes on its way."""

    steps: Steps
    target: str = "demo"
    """The skill that is opened."""
    model: Callable[[], FakeModel] | None = FakeModel
    """Who answers; None for the user."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def path(self, work: Path) -> Path:
        """What is opened."""
        return work / ".agents" / "skills" / self.target if self.target else work


async def looking(studio: Studio) -> AsyncIterator[str]:
    yield "idle"
    await studio.redrawn("z")
    yield "zoomed to whole prompts"
    await studio.redrawn("z")
    yield "zoomed to dots"
    await studio.redrawn("z")
    await studio.press("slash", *"mend")
    yield "a node is looked for"
    await studio.press("escape", "m")
    yield "the map"
    await studio.press("m", "v")
    await studio.until(lambda: studio.shows("#source-pane"), "the source")
    yield "the source"


async def keys(studio: Studio) -> AsyncIterator[str]:
    await studio.press("question_mark")
    yield "help"
    await studio.press("escape", "ctrl+p")
    await studio.until(lambda: "Breakpoint" in studio.text or "Again" in studio.text, "commands")
    yield "the palette"
    await studio.press("escape")
    studio.app.action_change_theme()
    await studio.until(lambda: isinstance(studio.app.screen, Dialog), "the themes")
    yield "themes"
    await studio.press("escape", "N")
    await studio.until(lambda: isinstance(studio.app.screen, Dialog), "the wizard")
    await studio.press(*"tea")
    yield "the wizard"
    await studio.press("escape", "tab")
    yield "the chat before any talk"


def _mender() -> FakeModel:
    return FakeModel(write="A draft of three lines.", good=[choose("yes"), choose("yes")])


async def running(studio: Studio) -> AsyncIterator[str]:
    await studio.begin()
    yield "paused before a node"
    await studio.press("n")
    await studio.paused_at("good")
    yield "paused before a decision"
    await studio.press("2")
    await studio.paused_at("mend")
    yield "a branch taken by hand"
    await studio.press("n")
    await studio.paused_at("good")
    await studio.press("left_square_bracket")
    await studio.until(lambda: studio.main.driver.look is not None, "the look back")
    yield "looking back"
    await studio.press("escape", "u")
    await studio.until(lambda: isinstance(studio.app.screen, Dialog), "the visits")
    yield "rewind"
    await studio.press("escape", "c")
    await studio.ended()
    yield "a run that is over"
    await studio.press("r")
    await studio.until(lambda: len(studio.said(RunEnded)) > 1, "another end")
    await studio.press("H")
    await studio.until(lambda: "2 runs" in studio.text, "both runs")
    yield "history"
    await studio.press("space", "space", "d")
    await studio.until(lambda: "differences" in studio.text or "both:" in studio.text, "both")
    yield "two runs compared"


async def live(studio: Studio) -> AsyncIterator[str]:
    await studio.press("r")
    await studio.until(lambda: "I am thinking" in studio.text, "the stream")
    yield "running"


async def asked(studio: Studio) -> AsyncIterator[str]:
    await studio.press("r")
    await studio.until(lambda: studio.state and studio.state.waits_for, "a question")
    yield "the user is asked as the model"
    await studio.type("A draft.")
    await studio.asked_at("good")
    yield "a choice as the model"


async def broken(studio: Studio) -> AsyncIterator[str]:
    await studio.until(lambda: studio.faults_shown, "the fault")
    yield "a broken file"
    await studio.press("v")
    await studio.until(lambda: studio.shows("#source-pane"), "the source")
    yield "the source of a broken file"


def _talker() -> FakeModel:
    call = ToolCall.FunctionBody(name="Shell", arguments='{"command": "touch here"}')
    asks = [TextPart(text="Let me see."), ToolCall(id="call", function=call)]
    return FakeModel(talk=[SPEECH, asks])


async def talking(studio: Studio) -> AsyncIterator[str]:
    await studio.type("What is good?")
    await studio.until(lambda: "no more" in studio.chat_text, "the answer")
    yield "an answer in Markdown"
    await studio.type("Make it so.")
    await studio.until(lambda: studio.chat.query("ApprovalCard"), "the request")
    yield "a tool asks for leave"


async def first_time(studio: Studio) -> AsyncIterator[str]:
    await studio.press("W")
    await studio.until(lambda: isinstance(studio.app.screen, Dialog), "the welcome")
    yield "welcome"
    await studio.press("t")
    await studio.until(lambda: studio.main.query("TourBar"), "the guide")
    yield "the tour begins"
    await studio.press("n")
    await studio.paused_at("prompt")
    await studio.press("n")
    await studio.paused_at("drawing")
    await studio.press("left_square_bracket")
    await studio.until(lambda: studio.main.driver.look is not None, "the look back")
    yield "the tour looks back"
    await studio.press("escape", "n")
    await studio.paused_at("branch")
    await studio.press("1")
    await studio.until(lambda: len(studio.said(ChoiceMade)) == 1, "the choice")
    await studio.paused_at("branch")
    yield "the tour is done"


async def dialogs(studio: Studio) -> AsyncIterator[str]:
    points = [parse_breakpoint("good", "visit >= 3")]
    line = "The text is to be mended until it is good."
    for name, dialog in (
        ("an input is asked for", InputDialog("demo")),
        ("trust is asked for", TrustDialog("demo", "~/project")),
        ("values are asked for", ValuesDialog("demo", [Missing("base", "write", 9, 4)])),
        ("a prompt is edited", PromptDialog("write", line)),
        ("a breakpoint with a condition", BreakDialog("good", points)),
        ("breakpoints", PointsDialog(["good: before visit >= 3", "mend: before"])),
        ("a choice", ChoiceDialog("Delete", "Delete it from the disk?", {"y": "deletes it"})),
        ("a number", NumberDialog("More moves", "How many more may it make?", 50)),
        ("both changed the file", ConflictDialog("SKILL.md", "mine\nsame", "theirs\nsame")),
        ("not saved", LeaveDialog(["demo/SKILL.md"])),
        ("a node is renamed", NameDialog("mend")),
    ):
        # Over nothing: to mix each cell of a large screen with a veil costs more than all else.
        dialog.styles.background = "#000000"
        studio.app.push_screen(dialog)
        await studio.until(lambda one=dialog: studio.app.screen is one, name)
        yield name
        await studio.press("escape")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")


def _propose(work: Path) -> None:
    path = work / ".agents" / "skills" / "notes" / "SKILL.md"
    before = path.read_text(encoding="utf-8")
    files = (FileChange(path, path.parent.parent, before, f"{before}Say it once.\n"),)
    change = Change("skill_update", "local", "teach notes", "you said so twice", files)
    with Database() as database:
        ReviewQueue(database, lambda: 1_700_000_000.0).add(change)


async def library(studio: Studio) -> AsyncIterator[str]:
    _propose(studio.main.library.work_dir)
    await studio.press("Q")
    await studio.until(lambda: "Say it once" in studio.text, "the changes")
    yield "changes to the library"
    await studio.press("escape")
    catalogue = studio.main.library.catalogue
    brew = catalogue.get("brew") if catalogue else None
    assert brew is not None
    studio.main.pick_skill(brew)
    await studio.press("G")
    await studio.until(lambda: studio.app.screen is not studio.main, "the library")
    await studio.until(lambda: studio.app.screen.pane.is_drawn, "its drawing")  # type: ignore[attr-defined]
    yield "the library"
    await studio.press("escape")
    await studio.until(lambda: studio.app.screen is studio.main, "the studio")
    await studio.press("P")
    await studio.until(lambda: studio.app.screen is not studio.main, "the planner")
    yield "the planner"
    goal = studio.app.screen.query_one("#goal", Input)
    goal.value = "Brew a pot of tea"
    goal.focus()
    await studio.press("enter")
    await studio.until(lambda: studio.app.screen.view.drawing, "a plan")  # type: ignore[attr-defined]
    yield "a plan"


WALKS: dict[str, Walk] = {
    "looking": Walk(looking),
    "keys": Walk(keys),
    "running": Walk(running, model=_mender),
    "live": Walk(live, model=lambda: FakeModel(write=Held("A draft."))),
    "asked": Walk(asked, model=None, options={"model_name": "rehearsal"}),
    "broken": Walk(broken, target="broken", model=None),
    "talking": Walk(talking, model=_talker),
    "first time": Walk(first_time, model=None),
    "dialogs": Walk(dialogs, model=None),
    "library": Walk(library, target="", model=None),
}
