"""The run whose path `flowstudio draw --run` shows: found by its id, and read from its journal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from flowstudio import paths
from flowstudio.cli.output import say
from flowstudio.drawing import Marks
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Flow
from flowstudio.run.folder import RunFolder, open_run
from flowstudio.run.history import NoSuchRun, find_run
from flowstudio.run.journal import JournalDamaged, read_journal
from flowstudio.run.kept_breakpoints import load_breakpoints
from flowstudio.run.marks import make_marks
from flowstudio.run.sources import recorded_source
from flowstudio.run.state import RunState
from flowstudio.text import first_line


class RunUnreadable(Exception):
    """The run cannot be shown; the message says why and is fit to show."""


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run as far as its drawing is concerned."""

    folder: RunFolder
    state: RunState

    @classmethod
    def open(cls, wanted: str) -> DrawnRun:
        """The run of that id, of the beginning of one, or the `last` one.

        Raises:
            RunUnreadable: there is none, several could be meant, or it is damaged.
        """
        try:
            folder = open_run(find_run(paths.runs_dir(), wanted))
            journal = read_journal(folder.journal)
        except (NoSuchRun, JournalDamaged, ValueError, OSError) as error:
            raise RunUnreadable(str(error)) from error
        state = RunState()
        for event in journal.events:
            state.apply(event)
        if journal.dropped:
            say(
                f"flowstudio: the end of {folder.journal} is damaged; "
                f"{journal.dropped} bytes of it are not shown",
                file=sys.stderr,
            )
        return cls(folder, state)

    def recorded_flow(self) -> Flow:
        """The flow as the run last used it.

        Raises:
            RunUnreadable: its folder holds none that can be read.
        """
        revisions = [
            int(number)
            for file in (self.folder.path / "flow").glob("*-*")
            if (number := file.name.partition("-")[0]).isdecimal()
        ]
        source = recorded_source(self.folder, max(revisions, default=1))
        if source.flow is None:
            raise RunUnreadable(f"run {self.folder.id}: {source.problem}; name its file as PATH")
        return source.flow

    def marks(self, chart: Chart | Flow, file: Path | None) -> Marks:
        """What the run has done to this chart, and the breakpoints kept for the chart's file."""
        points = load_breakpoints(file)[0] if file else ()
        edges = list(chart.edges)
        at = frozenset(point.node for point in points if point.node in chart.nodes)
        return make_marks(edges, self.state, breakpoints=at)

    def notes(self, chart: Chart | Flow, marks: Marks) -> list[str]:
        """The run in a sentence or two, with what the picture itself cannot show."""
        state = self.state
        where = ""
        if state.current:
            visit = f" (visit {state.now.visit})" if state.now and state.now.visit > 1 else ""
            where = f" at {state.current}{visit}"
        why = first_line(state.why)
        match state.phase:
            case "ended":
                how = why or state.reason.replace("_", " ")
                how += "" if state.reason == "reached_end" else where
            case "idle":
                how = "not begun"
            case "running":
                how = f"running, or cut short,{where}"
            case "paused":
                how = f"paused{where}" + (f": {why}" if why else "")
        count = len(state.visits)
        notes = [f"run {self.folder.id}: {how}; {count} visit{'s' if count != 1 else ''}"]
        for (src, dst), times in marks.jumps.items():
            often = f", {times} times" if times > 1 else ""
            notes.append(f"by hand, along no edge: {src} to {dst}{often}")
        if gone := sorted({one.node for one in state.visits} - set(chart.nodes)):
            named = ", ".join(gone[:5]) + (" …" if len(gone) > 5 else "")
            notes.append(f"visited, but not in this chart: {named}")
        return notes
