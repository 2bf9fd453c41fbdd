"""The studio under test: the whole app on real files, driven by keys and mouse, read as it shows.

Only the model is made up (`FakeModel`). Nothing sleeps for a fixed time: `until` waits for what is
to come, and fails with the screen in its message if it never does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kosong.message import TextPart
from rich.cells import cell_len
from rich.text import Text
from textual.geometry import Offset, Region
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState

from flowstudio.drawing import Drawing
from flowstudio.models.hint import turn_hint
from flowstudio.models.llm import LLM
from flowstudio.run.state import RunState
from flowstudio.studio.app import StudioApp
from flowstudio.studio.chat_card import ApprovalCard
from flowstudio.studio.chat_pane import ChatPane
from flowstudio.studio.detail import DetailPane
from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.flow_pane import FlowPane
from flowstudio.studio.flow_view import FlowView
from flowstudio.studio.screen import StudioScreen
from flowstudio.studio.skills_pane import SkillsPane
from flowstudio.wire import Body, ChoiceMade, Event, NodeEntered, RunEnded

PATIENCE = 20.0
"""Seconds after which something that has not come counts as missing."""

DEMO = """\
---
name: demo
description: Improve a text until it is good.
type: flow
---

# Demo

```mermaid
flowchart TD
    BEGIN([BEGIN]) --> write[Write a first draft] --> good{Is it good?}
    good -->|yes| END([END])
    good -->|no| mend[Mend what is bad]
    mend --> good
```
"""
"""A flow with a loop: BEGIN, write, good (1 yes, 2 no), mend, END."""

NOTES = """\
---
name: notes
description: How we write notes.
---

# Notes

Short sentences.
"""
"""A standard skill: it has no flow."""

BROKEN = DEMO.replace("name: demo", "name: broken").replace("mend --> good", "mend[oops --> good")
"""A flow with a bracket that is never closed, in line 14."""


def write_skill(work: Path, text: str, name: str = "demo") -> Path:
    """A project skill on the disk; the path of its SKILL.md."""
    path = work / ".agents" / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def choose(branch: str, said: str = "Hm.") -> str:
    """What a model says that takes a branch."""
    return f"{said}\n<choice>{branch}</choice>"


# The model


@dataclass(frozen=True, slots=True)
class Held:
    """An answer whose end is held back until the test lets it go."""

    text: str
    first: str = "I am thinking"
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def parts(self) -> AsyncIterator[Any]:
        yield TextPart(text=self.first)
        self.begun.set()
        await self.gate.wait()
        yield TextPart(text=self.text)


@dataclass(frozen=True, slots=True)
class Endless:
    """An answer that never ends and never pauses for longer than a turn of the event loop."""

    piece: str = "and on and on, "

    async def parts(self) -> AsyncIterator[Any]:
        while True:
            yield TextPart(text=self.piece)
            await asyncio.sleep(0)


type Reply = str | Sequence[Any] | Held | Endless | Exception


class FakeModel:
    """A chat provider whose answers the test holds in its hand, by node; `talk` is the chat's.

    What is not named is answered “Done.”, and a decision by its first branch.
    """

    name = "fake"
    model_name = "fake"
    thinking_effort = None

    def __init__(self, **replies: Reply | list[Reply]) -> None:
        self._replies: dict[str, list[Reply]] = {
            node: list(reply) if isinstance(reply, list) else [reply]
            for node, reply in replies.items()
        }
        self.asked: list[tuple[str, str]] = []
        """The node and the last user message of each call."""

    async def generate(self, system_prompt: str, tools: Any, history: Sequence[Any]) -> Any:
        hint = turn_hint.get()
        node = hint.node if hint and hint.node else "talk"
        prompts = [m.extract_text() for m in history if m.role == "user"]
        self.asked.append((node, prompts[-1] if prompts else ""))
        waiting = self._replies.get(node)
        if waiting:
            return _Stream(waiting.pop(0))
        return _Stream(choose(hint.branches[0]) if hint and hint.branches else "Done.")

    def with_thinking(self, effort: Any) -> Self:
        return self


class _Stream:
    id = None
    usage = None

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[Any]:
        match self._reply:
            case Exception() as error:
                raise error
            case Held() | Endless() as slow:
                async for part in slow.parts():
                    yield part
            case str() as text:
                yield TextPart(text=text)
            case parts:
                for part in parts:
                    yield part


# The app


class Studio:
    """The app while it runs, with what a user can see of it and do to it."""

    def __init__(self, app: StudioApp, screen: StudioScreen) -> None:
        self.app = app
        self.main = screen
        self.pilot: Pilot[None]
        self.events: list[Event] = []
        """Everything on the wire."""
        self.toasts: list[str] = []
        """Every short notice that popped up."""
        self.faults: list[str] = []
        """Faults of our own code that ended a worker."""
        self._listen()

    def _listen(self) -> None:
        driver, notify = self.main.driver, self.app.notify
        take = driver.on_event

        def on_event(event: Event) -> None:
            self.events.append(event)
            take(event)

        def on_notify(message: str, **more: Any) -> None:
            self.toasts.append(message)
            notify(message, **more)

        driver.on_event = on_event
        self.app.notify = on_notify  # type: ignore[method-assign]

    def hear(self, message: Message) -> None:
        """Every message of the app passes here."""
        if isinstance(message, Worker.StateChanged) and message.state is WorkerState.ERROR:
            self.faults.append(repr(message.worker.error))

    # What there is

    @property
    def view(self) -> FlowView:
        return self.main.query_one(FlowView)

    @property
    def flow(self) -> FlowPane:
        return self.main.query_one(FlowPane)

    @property
    def skills(self) -> SkillsPane:
        return self.main.query_one(SkillsPane)

    @property
    def chat(self) -> ChatPane:
        return self.main.query_one(ChatPane)

    @property
    def state(self) -> RunState | None:
        return self.main.driver.state

    @property
    def phase(self) -> str:
        return self.state.phase if self.state else "idle"

    @property
    def current(self) -> str | None:
        return self.state.current if self.state else None

    @property
    def path(self) -> list[str]:
        """The nodes that the run has entered."""
        return [e.node or "" for e in self.events if isinstance(e.body, NodeEntered)]

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Branch, author and whether it was forced, of every choice."""
        found = [e.body for e in self.events if isinstance(e.body, ChoiceMade)]
        return [(body.branch, body.by, body.forced) for body in found]

    @property
    def end(self) -> str | None:
        """How the last run ended."""
        return next(
            (e.body.reason for e in reversed(self.events) if isinstance(e.body, RunEnded)), None
        )

    def said(self, kind: type[Body]) -> list[Any]:
        """The bodies of one kind."""
        return [e.body for e in self.events if isinstance(e.body, kind)]

    # What it shows

    @property
    def lines(self) -> list[str]:
        """The screen as text, a line each."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def chat_text(self) -> str:
        """What stands in the chat, scrolled away or not."""
        asked = [card.text for card in self.chat.query(ApprovalCard)]
        return "\n".join([self.chat.log_view.text, *asked])

    @property
    def detail(self) -> str:
        """The pane of the node under the lens."""
        pane = self.main.query_one(DetailPane)
        return f"{pane.border_title}\n{text_of(pane.query_one('#detail', Static))}"

    @property
    def faults_shown(self) -> str:
        """What stands over the drawing of a broken flow; empty where nothing does."""
        panel = self.main.query_one("#faults", Static)
        return text_of(panel) if panel.display else ""

    @property
    def rows(self) -> list[str]:
        """The lines of the skill browser."""
        listing = self.main.query_one("#skills", OptionList)
        return [str(option.prompt) for option in listing.options]

    @property
    def completions(self) -> list[str]:
        """The slash commands on offer."""
        listing = self.main.query_one("#completions", OptionList)
        return [option.id or "" for option in listing.options] if listing.display else []

    def row_of(self, name: str) -> str:
        """The line of one skill in the browser; empty where it is not listed."""
        return next((row for row in self.rows if name in row), "")

    def shows(self, selector: str) -> bool:
        """Whether any of a widget is on the screen."""
        widget = self.main.query_one(selector)
        screen = Region(0, 0, *self.app.size)
        return widget.is_on_screen and widget.region.intersection(screen).area > 0

    def find(self, text: str, *, within: str | None = None) -> tuple[int, int]:
        """The cell in the middle of a text on the screen, as the eye finds it."""
        region = self.main.query_one(within).region if within else Region(0, 0, *self.app.size)
        for y, line in enumerate(self.lines):
            at = -1
            while (at := line.find(text, at + 1)) >= 0:
                x = cell_len(line[:at]) + cell_len(text) // 2
                if region.contains(x, y):
                    return x, y
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    # What the user does

    async def until(self, is_so: Callable[[], Any], what: str) -> None:
        """Wait until something is so, however long the machine takes."""
        begun = asyncio.get_running_loop().time()
        while not is_so():
            waited = asyncio.get_running_loop().time() - begun
            if waited > PATIENCE:
                raise AssertionError(f"never came: {what}\n{self.text}\n{self.chat_text}")
            await self.pilot.pause()
            if waited > 0.03:
                # What takes longer comes from a thread or the disk: leave the processor to it.
                await asyncio.sleep(0.01)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type a line into the chat and send it."""
        await self.press("i")
        self.chat.input.value = text
        await self.press("enter")

    async def click(self, text: str, *, within: str | None = "#flow") -> None:
        """Click on a text on the screen."""
        await self.pilot.pause()
        await self.pilot.click(offset=self.find(text, within=within))
        await self.pilot.pause()

    async def select(self, node: str) -> None:
        """Select a node by the arrow keys' means, without the mouse."""
        self.view.focus()
        self.view.select(node)
        await self.pilot.pause()

    def place_of(self, node: str) -> Offset:
        """Where the middle of a node is in the window of the flow."""
        assert self.view.drawing is not None
        box = self.view.drawing.boxes[node]
        middle = Offset(box.x + box.width // 2, box.y + box.height // 2)
        return middle - self.view.window.offset

    def sees(self, node: str) -> bool:
        """Whether the whole of a node is in the window of the flow."""
        assert self.view.drawing is not None
        box = self.view.drawing.boxes[node]
        return self.view.window.contains_region(Region(box.x, box.y, box.width, box.height))

    async def redrawn(self, *keys: str) -> Drawing:
        """Press keys that bring another picture, and wait for it."""
        before = self.view.drawing
        await self.press(*keys)
        await self.until(lambda: self.view.drawing not in (before, None), "another picture")
        await self.pilot.pause()
        assert self.view.drawing is not None
        return self.view.drawing

    async def use(self, model: FakeModel) -> FakeModel:
        """Let this model answer from now on."""
        session = self.main.driver.session
        assert session is not None
        session.set_model(LLM(model, "fake", "fake", 100_000))  # type: ignore[arg-type]
        return model

    async def settled(self) -> None:
        """Wait until the flow is drawn and the session stands."""
        await self.until(lambda: self.main.is_settled, "a studio that is set up")

    async def paused_at(self, node: str) -> None:
        await self.until(
            lambda: self.phase == "paused" and self.current == node and self.main.waits_for_user,
            f"a pause at {node}",
        )

    async def asked_at(self, node: str) -> None:
        """Wait for the rehearsal's question."""
        await self.until(
            lambda: self.state is not None and self.state.waits_for and self.current == node,
            f"a question at {node}",
        )

    async def ended(self, reason: str = "reached_end") -> None:
        await self.until(lambda: self.end is not None and self.phase == "ended", "the run's end")
        assert self.end == reason, self.chat_text

    async def begin(self) -> None:
        """Start a run that is paused before its first prompt."""
        await self.press("n")
        await self.until(lambda: self.phase == "paused", "a pause before the first prompt")


def text_of(widget: Any) -> str:
    """The plain text of a Static."""
    content = widget.content
    return content.plain if isinstance(content, Text) else str(content)


@contextlib.asynccontextmanager
async def _in_folder(folder: Path) -> AsyncIterator[None]:
    """`folder` is where the user stands."""
    with contextlib.chdir(folder):
        yield


@contextlib.asynccontextmanager
async def open_studio(
    target: Path,
    *,
    cwd: Path | None = None,
    size: tuple[int, int] = (120, 40),
    settle: bool = True,
    model: FakeModel | None = None,
    model_name: str | None = None,
    patience: float = 2 * PATIENCE,
    **options: Any,
) -> AsyncIterator[Studio]:
    """The studio, opened as `flowstudio TARGET` does it, and closed at the end.

    A fault of our own code that ended one of its workers fails the test, and so does one that is
    still open after `patience` seconds.
    """
    app = StudioApp(StudioOptions(path=target, model=model_name, **options))
    main = app.get_default_screen()
    assert isinstance(main, StudioScreen)
    studio = Studio(app, main)
    async with (
        asyncio.timeout(patience),
        _in_folder(cwd or target),
        app.run_test(size=size, notifications=True, message_hook=studio.hear) as pilot,
    ):
        studio.pilot = pilot
        if settle or model:
            await studio.settled()
        if model:
            await studio.use(model)
        yield studio
        if studio.main.driver.control is not None:
            studio.main.driver.control.stop()
    assert not studio.faults
