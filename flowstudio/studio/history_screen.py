"""The history: all runs, forks below their parents, and what can be done with each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.studio.commands import bindings_of
from flowstudio.studio.history_rows import Row, arrange, when
from flowstudio.studio.key_line import KeyLine
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.studio.scoped import palette_of, show_help
from flowstudio.text import count, first_line, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.history import RunSummary, Standing

_LOOKS: dict[Standing, tuple[str, str]] = {
    "running": (GLYPHS["running"], "now"),
    "paused": (GLYPHS["paused"], "now"),
    "ended": (GLYPHS["failed"], "fault"),
    "broken off": ("╳", "fault"),
    "forked": ("○", "muted"),
    "damaged": (GLYPHS["fault"], "fault"),
}
_MARK = "▪"


type Deed = Literal["open", "resume", "attach", "fork", "replay"]


@dataclass(frozen=True, slots=True)
class HistoryAct:
    """What the user wants to be done with a run, once the history is closed."""

    what: Deed
    path: Path


class HistoryScreen(Screen[HistoryAct | None]):
    """Lists the runs of a folder; gives what is to be done with one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("history")]

    DEFAULT_CSS = """
    HistoryScreen {
        background: $background; color: $role-text;
        & #title { height: 1; padding: 0 1; background: $surface; color: $role-muted; }
        & #wanted {
            height: 1; border: none; padding: 0 1; background: $background;
            &:focus { background: $panel; }
        }
        & #heads { height: 1; padding: 0 1; color: $role-dim; }
        & OptionList {
            height: 1fr; border: none; padding: 0; background: $background;
            scrollbar-size: 1 1;
            & > .option-list--option { padding: 0 1; }
            & > .option-list--option-highlighted { background: $panel; color: $role-text; }
            &:focus > .option-list--option-highlighted { background: $panel; text-style: bold; }
        }
        & #about-run {
            height: 5; padding: 0 1; border-top: solid $role-line; color: $role-muted;
        }
    }
    """

    def __init__(self, root: Path, *, own: Path | None = None) -> None:
        """`root` holds the runs; `own` is the folder of the run that is on here."""
        super().__init__()
        self._root = root
        self._own = own
        self._runs: list[RunSummary] = []
        self._rows: list[Row] = []
        self._marked: list[str] = []
        self.is_read = False
        """True once the runs were read."""

    def compose(self) -> ComposeResult:
        """A line to filter with, the list, and more of the run under the cursor."""
        yield Static("", id="title", markup=False)
        yield Input(placeholder="⌕ / filters: flow, state, node, input", compact=True, id="wanted")
        yield Static("", id="heads", markup=False)
        yield OptionList(compact=True, markup=False, id="runs")
        yield Static("", id="about-run", markup=False)
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read the runs."""
        self.query_one("#runs").focus()
        self.query_one("#title", Static).update("reading the runs …")
        self._read()

    def on_resize(self) -> None:
        """The columns follow the width."""
        if self.is_read:
            self._show()

    @work(group="runs", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        from flowstudio.run.history import list_runs

        self._runs = await asyncio.to_thread(list_runs, self._root)
        self.is_read = True
        self._show()

    # What is shown

    @property
    def run(self) -> RunSummary | None:
        """The run under the cursor."""
        at = self.query_one("#runs", OptionList).highlighted
        return self._rows[at].run if at is not None and at < len(self._rows) else None

    def _show(self) -> None:
        listing = self.query_one("#runs", OptionList)
        before = self.run.id if self.run else None
        self._rows = arrange(self._runs, self.query_one("#wanted", Input).value)
        known = {run.id for run in self._runs}
        self._marked = [one for one in self._marked if one in known]
        listing.clear_options()
        listing.add_options([Option(self._line(row)) for row in self._rows])
        places = {row.run.id: place for place, row in enumerate(self._rows)}
        if self._rows:
            listing.highlighted = places.get(before or "", 0)
        self.query_one("#heads", Static).update(self._heads())
        many = f"{len(self._rows)} of {len(self._runs)}" if self._rows else f"{len(self._runs)}"
        marked = f" · {len(self._marked)} marked" if self._marked else ""
        self.query_one("#title", Static).update(f"History · {many} runs{marked}")
        if not self._rows:
            none = f"no run yet: in the studio {key_of('run.start')} runs the flow that is shown"
            empty = "nothing matches" if self._runs else none
            self.query_one("#about-run", Static).update(empty)

    def _columns(self) -> tuple[int, bool, bool]:
        """The width of the flow's column, and whether there is room for tokens and for the id."""
        width = self.size.width
        return max(min(30, width - 44), 12), width >= 74, width >= 110

    def _heads(self) -> str:
        flow, tokens, ids = self._columns()
        parts = ["  " + set_cell_size("flow", flow), set_cell_size("when", 12), "visits"]
        if tokens:
            parts.append("tokens")
        if ids:
            parts.append(set_cell_size("run", 22))
        return " ".join(parts) + "  where it stands"

    def _line(self, row: Row) -> Text:
        run, header = row.run, row.run.header
        flow_width, with_tokens, with_id = self._columns()
        glyph, role = _LOOKS[run.standing]
        if run.reason == "reached_end":
            glyph, role = GLYPHS["done"], "done"
        text = Text(no_wrap=True, overflow="ellipsis")
        # A list strips the plain spaces before an option.
        mark = _MARK if run.id in self._marked else "\u00a0"
        text.append(mark, style_of(self, "accent"))
        text.append(glyph, style_of(self, role))
        name = f" {row.branch}{shorten(harmless(header.flow if header else run.id), 40)}{row.fork}"
        text.append(_fit(name, flow_width + 1), style_of(self, "text"))
        text.append(_fit(when(run.changed, time.time()), 13), style_of(self, "muted"))
        text.append(f"{run.visits:>6} ", style_of(self, "muted"))
        if with_tokens:
            tokens = count(run.tokens) if run.tokens else "-"
            text.append(f"{tokens:>6} ", style_of(self, "muted"))
        if with_id:
            text.append(f"{_fit(run.id, 22)} ", style_of(self, "dim"))
        text.append(f" {self._stands(run)}", style_of(self, role))
        return text

    def _stands(self, run: RunSummary) -> str:
        if self._own is not None and run.path == self._own:
            return harmless(f"on, here, at {run.at}")
        where = f" at {run.at}" if run.at and run.reason != "reached_end" else ""
        what = run.reason.replace("_", " ") if run.standing == "ended" else run.standing
        if run.standing == "paused" and run.reason:
            what = f"paused ({run.reason.replace('_', ' ')})"
        return harmless(f"{what}{where}")

    def _about(self, run: RunSummary) -> Text:
        header = run.header
        lines = [run.id + (f" · {header.model}" if header and header.model else "")]
        if header is not None and header.parent:
            lines[0] += f" · forked from {header.parent} at move {header.parent_move}"
        if header is not None and header.input:
            lines.append("input: " + shorten(header.input, 200))
        if run.message:
            lines.append(first_line(run.message))
        if run.holder is not None:
            joins = "" if run.path == self._own else f": {key_of('history.attach')} joins it"
            lines.append(f"written now by process {run.holder.pid}{joins}")
        elif run.can_resume:
            lines.append(f"{key_of('history.resume')} goes on with it")
        return Text(harmless("\n".join(lines)), style_of(self, "muted"), overflow="ellipsis")

    def on_option_list_option_highlighted(self) -> None:
        """Tell more of the run under the cursor."""
        if self.run is not None:
            self.query_one("#about-run", Static).update(self._about(self.run))

    def on_option_list_option_selected(self) -> None:
        """Enter, or a click on the line that is chosen already: look at it."""
        self._give("open")

    def on_input_changed(self) -> None:
        """Filter as the user types."""
        if self.is_read:
            self._show()

    def on_input_submitted(self) -> None:
        """Back to the list."""
        self.query_one("#runs").focus()

    # What can be done

    def action_command(self, command: str) -> None:
        """Carry out a command of the table, by its id."""
        acts: dict[str, Callable[[], object]] = {
            "history.open": lambda: self._give("open"),
            "history.resume": self._resume,
            "history.attach": self._join,
            "history.fork": lambda: self._give("fork"),
            "history.replay": lambda: self._give("replay"),
            "history.mark": self._mark,
            "history.compare": self._compare,
            "history.delete": self._delete,
            "history.prune": self._prune,
            "history.filter": lambda: self.set_focus(self.query_one("#wanted")),
            "history.help": lambda: show_help(self, "history", self.action_command),
            "history.close": self._close,
        }
        acts[command]()

    def palette_commands(self) -> Iterable[SystemCommand]:
        """Every command of the history by name, for the palette."""
        return palette_of(self, "history", self.action_command)

    def _close(self) -> None:
        wanted = self.query_one("#wanted", Input)
        if wanted.has_focus or wanted.value:
            wanted.value = ""
            self.query_one("#runs").focus()
            return
        self.dismiss(None)

    def _say(self, text: str) -> None:
        self.notify(harmless(text), severity="warning", markup=False, timeout=4)

    def _give(self, what: Deed) -> None:
        run = self.run
        if run is None:
            return
        if run.standing == "damaged":
            self._say(f"{run.id} cannot be read: {run.message}")
            return
        self.dismiss(HistoryAct(what, run.path))

    def _resume(self) -> None:
        run = self.run
        if run is not None and not run.can_resume and run.standing != "damaged":
            over = run.standing == "ended"
            held = f"another process makes it: {key_of('history.attach')} joins it"
            fork = f"it reached END: {key_of('history.fork')} forks it at an earlier visit"
            self._say(fork if over else held)
            return
        self._give("resume")

    def _join(self) -> None:
        run = self.run
        if run is None:
            return
        if run.path == self._own:
            self._say("this run is on here: escape goes back to it")
        elif run.holder is None:
            self._say(f"nobody makes this run now: {key_of('history.resume')} goes on with it")
        else:
            self._give("attach")

    def _mark(self) -> None:
        run = self.run
        if run is None:
            return
        if run.id in self._marked:
            self._marked.remove(run.id)
        else:
            self._marked.append(run.id)
        listing = self.query_one("#runs", OptionList)
        at = listing.highlighted
        self._show()
        if at is not None:
            listing.highlighted = min(at + 1, len(self._rows) - 1)

    def _chosen(self) -> list[RunSummary]:
        """The marked runs, else the one under the cursor."""
        by_id = {run.id: run for run in self._runs}
        found = [by_id[one] for one in self._marked]
        return found or ([self.run] if self.run else [])

    def _compare(self) -> None:
        chosen = self._chosen()
        if len(chosen) == 1 and self.run is not None:
            header = chosen[0].header
            other = self.run if self.run is not chosen[0] else None
            if other is None and header is not None and header.parent:
                other = next((run for run in self._runs if run.id == header.parent), None)
            chosen += [other] if other else []
        if len(chosen) != 2:
            mark, compare = key_of("history.mark"), key_of("history.compare")
            self._say(
                f"mark two runs with {mark}, then {compare} compares them; "
                "a fork goes with its parent"
            )
            return
        from flowstudio.run.history import age_of
        from flowstudio.studio.history_compare import CompareScreen

        chosen.sort(key=age_of)
        self.app.push_screen(CompareScreen(chosen[0].path, chosen[1].path))

    def _delete(self) -> None:
        self._ask_to_delete(self._chosen(), "that are marked" if self._marked else "")

    def _ask_to_delete(self, runs: list[RunSummary], which: str) -> None:
        free = [run for run in runs if run.holder is None]
        if not free:
            self._say("none that may go: somebody writes it" if runs else "there is none to delete")
            return
        from flowstudio.studio.pick_dialogs import ChoiceDialog

        what = f"{len(free)} runs {which}".rstrip() if len(free) > 1 else f"the run {free[0].id}"
        question = f"Delete {what} from the disk, with journal and conversation?"

        def answer(key: str | None) -> None:
            if key == "y":
                self._remove(free)

        dialog = ChoiceDialog("Delete runs", question, {"y": "delete for good"}, cancel="keep")
        self.app.push_screen(dialog, answer)

    @work(group="delete", exit_on_error=False)
    async def _remove(self, runs: list[RunSummary]) -> None:
        from flowstudio.run.history import RunBusy, delete_run

        gone = 0
        for run in runs:
            try:
                await asyncio.to_thread(delete_run, run)
                gone += 1
            except (RunBusy, OSError) as error:
                self._say(f"{run.id} was not deleted: {error}")
        self.notify(f"{gone} runs deleted" if gone != 1 else "the run was deleted", timeout=3)
        self._read()

    def _prune(self) -> None:
        from flowstudio.run.history import choose_old
        from flowstudio.studio.pick_dialogs import NumberDialog

        def use(keep: int | None) -> None:
            if keep is not None:
                old = choose_old(self._runs, keep=keep)
                self._ask_to_delete(old, f"older than the latest {keep}")

        text = "Delete old runs: how many of the latest are kept? You are asked once more."
        self.app.push_screen(NumberDialog("Prune", text, 50), use)


def _fit(text: str, width: int) -> str:
    """Exactly so many cells."""
    if cell_len(text) > width:
        text = set_cell_size(text, max(width - 1, 0)) + "…"
    return set_cell_size(text, width)
