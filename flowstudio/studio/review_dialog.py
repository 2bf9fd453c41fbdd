"""The changes to the library that wait for the user's answer, and those that can be undone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.paths import show_path
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.mindflow.queue import Queued, ReviewQueue

type Answer = Literal["approve", "reject", "undo"]

_MOST_DECIDED = 20
"""Changes that are decided already and listed below those that wait."""
_STATES = {"approved": "written", "conflict": "not written"}


class ReviewDialog(Dialog[None]):
    """Lists the changes with their risk, age and diff; takes the answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "answer('approve')", "approves"),
        Binding("x", "answer('reject')", "rejects"),
        Binding("u", "answer('undo')", "undoes"),
        Binding("escape,Q", "leave", "closes"),
    ]

    DEFAULT_CSS = """
    ReviewDialog {
        & > #dialog { width: 110; height: 34; padding: 0 1; }
        & OptionList { max-height: 40%; }
        & VerticalScroll { height: 1fr; border-top: solid $role-line; }
        & #said { color: $role-now; padding: 0 1; }
        & #diff { padding: 0 1; }
    }
    """

    def __init__(self, work_dir: Path) -> None:
        super().__init__("Changes to the library")
        self._name_file = partial(show_path, base=work_dir)
        self._changes: tuple[Queued, ...] = ()

    def body(self) -> Iterable[Widget]:
        """The changes, and what the one under the cursor does."""
        yield OptionList(compact=True, markup=False)
        yield Static("", id="said", markup=False)
        with VerticalScroll(can_focus=False):
            yield Static("", id="diff", markup=False)

    def on_mount(self) -> None:
        """Read what there is."""
        self._read()

    @work(group="review", exit_on_error=False)
    async def _read(self) -> None:
        self._show(await asyncio.to_thread(_with_queue, _list), "")

    def action_answer(self, answer: Answer) -> None:
        """Approve, reject or undo the change under the cursor."""
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._changes):
            self._carry_out(answer, self._changes[at])

    @work(group="review", exit_on_error=False)
    async def _carry_out(self, answer: Answer, change: Queued) -> None:
        def decide(queue: ReviewQueue) -> tuple[list[Queued], str]:
            from flowstudio.mindflow.queue import QueueError

            try:
                match answer:
                    case "approve":
                        one = queue.approve(change.id)
                    case "reject":
                        one = queue.reject(change.id)
                    case "undo":
                        one = queue.undo(change.id)
            except QueueError as error:
                said = self._with_short_paths(str(error), change)
                return _list(queue)[0], said
            state = _STATES.get(one.state, one.state)
            note = self._with_short_paths(one.note, one)
            said = f"{one.change.title}: {state}" + (f", {note}" if note else "")
            return _list(queue)[0], said

        self._show(await asyncio.to_thread(_with_queue, decide), "")

    def _show(self, read: tuple[Sequence[Queued], str], said: str) -> None:
        self._changes = tuple(read[0])
        self.query_one("#said", Static).update(harmless(read[1] or said))
        listing = self.query_one(OptionList)
        at = listing.highlighted or 0
        listing.clear_options()
        now = time.time()
        rows = [Option(self._line(one, now)) for one in self._changes]
        listing.add_options(rows or [Option("no change waits, and none is on record")])
        listing.highlighted = min(at, max(len(rows) - 1, 0))
        listing.focus()
        self._show_diff()

    def _line(self, one: Queued, now: float) -> Text:
        from flowstudio.mindflow.queue import describe_due

        is_open = one.state == "open"
        state = describe_due(one, now) if is_open else _STATES.get(one.state, one.state)
        title = style_of(self, "text" if is_open else "muted")
        text = Text(f"{one.id:>3}  {harmless(one.change.title)}", title, no_wrap=True)
        about = f"  risk {one.change.risk:.2f} · {show_age(now - one.time)} ago · {state}"
        text.append(about, style_of(self, "now" if one.must_answer else "dim"))
        return text

    def on_option_list_option_highlighted(self) -> None:
        """Show what the change under the cursor does."""
        self._show_diff()

    def _show_diff(self) -> None:
        at = self.query_one(OptionList).highlighted
        text = Text()
        if at is not None and at < len(self._changes):
            one = self._changes[at]
            for line in (one.change.why, self._with_short_paths(one.note, one)):
                if line:
                    text.append(f"{harmless(line)}\n", style_of(self, "muted"))
            for line in one.change.diff(self._name_file).splitlines():
                role = {"+": "done", "-": "fault", "@": "accent"}.get(line[:1], "text")
                text.append(f"{harmless(line)}\n", style_of(self, role))
        self.query_one("#diff", Static).update(text)

    def _with_short_paths(self, said: str, one: Queued) -> str:
        """A sentence about a change, its files named as in the diff."""
        for file in one.change.files:
            for path in (file.path, file.root):
                said = said.replace(str(path), self._name_file(path))
        return said


def count_waiting() -> int:
    """How many changes wait for an answer; 0 where that cannot be read."""
    from flowstudio.mindflow.database import database_file

    if not database_file().exists():
        return 0
    waiting, _ = _with_queue(lambda queue: (queue.pending(), ""))
    return len(waiting)


def show_age(seconds: float) -> str:
    """An age in its largest unit, for people."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(int(seconds), 0)} s"


def _list(queue: ReviewQueue) -> tuple[list[Queued], str]:
    """First what waits, then the latest that were decided, which may be undone."""
    settled = queue.settle()
    decided = [one for one in queue.listed(100) if one.state != "open"]
    said = "; ".join(f"{one.change.title} approved itself" for one in settled)
    return [*queue.pending(), *decided[:_MOST_DECIDED]], said


def _with_queue(
    use: Callable[[ReviewQueue], tuple[list[Queued], str]],
) -> tuple[list[Queued], str]:
    """Open the queue for a moment; where that fails, the words say why."""
    from flowstudio.mindflow.database import Database, DatabaseError
    from flowstudio.mindflow.queue import ReviewQueue

    try:
        with Database() as database:
            return use(ReviewQueue(database))
    except DatabaseError as error:
        return [], str(error)
