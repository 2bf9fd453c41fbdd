"""Every screen of the studio, and how a user gets there.

A walk opens the studio once and yields the name of a scene whenever one stands. Whoever follows a
walk may resize the terminal and change the theme meanwhile, and leaves both as they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kosong.chat_provider import APIStatusError
from kosong.message import TextPart, ToolCall
from textual.widgets import Input, OptionList

from flowstudio.mindflow.changes import Change, FileChange
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.queue import ReviewQueue
from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.run.prompts import Missing
from flowstudio.studio.break_dialog import BreakDialog
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.dialogs import InputDialog, PromptDialog, TrustDialog
from flowstudio.studio.pick_dialogs import ChoiceDialog, NumberDialog, PointsDialog
from flowstudio.studio.plan_save import SaveDialog
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
    elsewhere: Callable[[], FakeModel] | None = None
    """Who answers in a run of the skill that is made without a screen: the studio is attached."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def path(self, work: Path) -> Path:
        """What is opened."""
        return work / ".agents" / "skills" / self.target if self.target else work


async def _dialog(studio: Studio, what: str) -> None:
    await studio.until(lambda: isinstance(studio.app.screen, Dialog), what)


async def _studio(studio: Studio) -> None:
    await studio.until(lambda: studio.app.screen is studio.main, "the studio")


async def _past(studio: Studio) -> None:
    """What was said before an earlier visit comes from the disk."""
    await studio.until(lambda: not studio.chat.log_view.display, "the talk as it was")


async def _now(studio: Studio) -> None:
    await studio.until(lambda: studio.chat.log_view.display, "the talk as it is")


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
    area = studio.main.source.area
    area.move_cursor(area.document.end)
    await studio.press("up", "up", "end", "enter", *"wr")
    words = studio.main.query_one("#source-words", OptionList)
    await studio.until(lambda: words.display, "completions")
    yield "the source completes a name"


async def panes(studio: Studio) -> AsyncIterator[str]:
    await studio.press("ctrl+k", *"brew")
    await studio.until(lambda: len(studio.rows) == 2, "one skill")  # its scope has a line too
    yield "the skills are filtered"
    studio.main.browser.query_one("#filter", Input).value = "how do we write notes"
    await studio.until(lambda: "BY WORDS ALONE" in "".join(studio.rows), "what is found")
    yield "a skill is looked for by its meaning"
    await studio.press("escape")
    notes = next(one for one in studio.main.library.skills if one.name == "notes")
    studio.main.pick_skill(notes)
    await studio.until(lambda: "it has no flow" in studio.text, "the skill")
    yield "a standard skill"
    await studio.press("Z")
    yield "a pane alone"
    await studio.press("Z", "F")
    await studio.until(lambda: not studio.main.query_one("#detail-pane").display, "the fold")
    yield "panes are folded"
    await studio.press("i", "slash")
    await studio.until(lambda: studio.completions, "the commands")
    yield "slash commands"


async def plain(studio: Studio) -> AsyncIterator[str]:
    await studio.begin()
    await studio.press("n")
    await studio.paused_at("good")
    yield "paused before a decision in plain signs"


async def keys(studio: Studio) -> AsyncIterator[str]:
    await studio.press("question_mark")
    await _dialog(studio, "the help")
    yield "help"
    await studio.press("escape", "ctrl+p")
    await studio.until(lambda: "Breakpoint" in studio.text or "Again" in studio.text, "commands")
    yield "the palette"
    await studio.press("escape")
    studio.app.action_change_theme()
    await _dialog(studio, "the themes")
    yield "themes"
    await studio.press("question_mark")
    await studio.until(lambda: len(studio.app.screen_stack) == 3, "its keys")
    yield "the keys of a dialog"
    await studio.press("escape")
    await studio.press("escape", "N")
    await _dialog(studio, "the wizard")
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
    await _past(studio)
    yield "looking back"
    await studio.press("escape")
    await _now(studio)
    await studio.press("u")
    await _dialog(studio, "the visits")
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
    await studio.press("escape")
    await studio.until(lambda: "2 runs" in studio.text, "both runs")
    await studio.press("enter")
    await _past(studio)
    yield "an earlier run"


async def live(studio: Studio) -> AsyncIterator[str]:
    await studio.press("r")
    await studio.until(lambda: "I am thinking" in studio.text, "the stream")
    yield "running"
    skill = studio.main.skill
    assert skill is not None
    skill.path.write_text(skill.source.replace("mend --> good", "mend[oops --> good"))
    await studio.until(lambda: studio.view.stale and studio.faults_shown, "the fault")
    yield "the file breaks during a run"


async def failing(studio: Studio) -> AsyncIterator[str]:
    await studio.press("r")
    await studio.paused_at("write")
    yield "the model fails"
    await studio.press("s")
    await studio.until(lambda: studio.phase == "ended", "the end")
    yield "a run that was stopped"


async def attached(studio: Studio) -> AsyncIterator[str]:
    await studio.until(lambda: "I am thinking" in studio.chat_text, "what streams already")
    yield "attached to a run"
    await studio.press("p", "full_stop")
    await studio.paused_at("good")
    yield "attached to a run that is held"
    await studio.press("2")
    await studio.paused_at("mend")
    await studio.press("D")
    await studio.until(lambda: studio.main.driver.remote is None, "the parting")
    yield "detached from a run"


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
    await studio.click("x reject", within="#chat-pane")
    await studio.until(lambda: not studio.main.driver.is_talking, "the end of the answer")
    await studio.until(lambda: not studio.chat.query("ApprovalCard"), "the request gone")
    await studio.press("i", "shift+tab", "up", "up", "enter")
    yield "the talk is read"


async def first_time(studio: Studio) -> AsyncIterator[str]:
    await studio.press("W")
    await _dialog(studio, "the welcome")
    yield "welcome"
    await studio.press("k")
    await studio.until(lambda: "OPENAI_API_KEY" in studio.text, "what to do")
    yield "how to set a key"
    await studio.press("t")
    await studio.until(lambda: studio.main.query("TourBar"), "the guide")
    yield "the tour begins"
    await studio.press("n")
    await studio.paused_at("prompt")
    await studio.press("n")
    await studio.paused_at("drawing")
    await studio.press("left_square_bracket")
    await _past(studio)
    yield "the tour looks back"
    await studio.press("escape")
    await _now(studio)
    await studio.press("n")
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
        ("a plan is saved", SaveDialog("plan-tea", Path("/project/skills"), Path("/project"))),
    ):
        # Over nothing: to mix each cell of a large screen with a veil costs more than all else.
        dialog.styles.background = "#000000"
        studio.app.push_screen(dialog)
        await studio.until(lambda one=dialog: studio.app.screen is one, name)
        yield name
        await studio.press("escape")
        await _studio(studio)


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
    await studio.until(lambda: studio.app.screen.view.selected, "its middle")  # type: ignore[attr-defined]
    yield "the library"
    await studio.press("a")
    await studio.until(lambda: "notes" in studio.text, "all of it")
    yield "the whole library"
    await studio.press("escape")
    await _studio(studio)
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
    "panes": Walk(panes),
    "plain": Walk(plain, options={"glyphs": "ascii"}),
    "keys": Walk(keys),
    "running": Walk(running, model=_mender),
    "live": Walk(live, model=lambda: FakeModel(write=Held("A draft."))),
    "attached": Walk(
        attached,
        model=None,
        elsewhere=lambda: FakeModel(write=[Held("A draft."), "A draft of three lines."]),
        options={"model_name": "rehearsal"},
    ),
    "failing": Walk(failing, model=lambda: FakeModel(write=APIStatusError(401, "no such key"))),
    "asked": Walk(asked, model=None, options={"model_name": "rehearsal"}),
    "broken": Walk(broken, target="broken", model=None),
    "talking": Walk(talking, model=_talker),
    "first time": Walk(first_time, model=None),
    "dialogs": Walk(dialogs, model=None),
    "library": Walk(library, target="", model=None),
}

SCREENS = {
    "idle": "StudioScreen",
    "help": "HelpDialog",
    "themes": "ThemeDialog",
    "the wizard": "Wizard",
    "rewind": "RewindDialog",
    "history": "HistoryScreen",
    "two runs compared": "CompareScreen",
    "welcome": "WelcomeScreen",
    "an input is asked for": "InputDialog",
    "trust is asked for": "TrustDialog",
    "values are asked for": "ValuesDialog",
    "a prompt is edited": "PromptDialog",
    "a breakpoint with a condition": "BreakDialog",
    "breakpoints": "PointsDialog",
    "a choice": "ChoiceDialog",
    "a number": "NumberDialog",
    "both changed the file": "ConflictDialog",
    "not saved": "LeaveDialog",
    "a node is renamed": "NameDialog",
    "a plan is saved": "SaveDialog",
    "changes to the library": "ReviewDialog",
    "the library": "LibraryScreen",
    "the planner": "PlanScreen",
}
"""For each screen and dialog of the studio, by its class, a scene in which it is on show."""
