"""Earlier runs for the studio: read from their folders, with a skill that draws what they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.run.folder import Header, RunFolder
    from flowstudio.run.history import RunSummary
    from flowstudio.run.state import RunState
    from flowstudio.skill import Skill
    from flowstudio.wire import Event


class Unreadable(Exception):
    """The run cannot be shown; the message says why and is fit to show."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A run as its folder keeps it."""

    folder: RunFolder
    events: Sequence[Event]
    state: RunState
    """What the events add up to."""
    skill: Skill
    """Draws the flow as the run last used it; its path is the flow's own."""
    warning: str = ""
    """What is missing of a damaged journal; empty where nothing is."""
    is_on: bool = False
    """True where another process makes it right now."""

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path


def read_earlier(path: Path) -> Earlier:
    """Read the run in a folder; takes a while for a long one, so call it in a thread.

    Raises:
        Unreadable: its folder, journal or flow cannot be read.
    """
    from flowstudio.run.folder import open_run
    from flowstudio.run.journal import Journal, read_journal
    from flowstudio.run.state import RunState

    try:
        folder = open_run(path)
        try:
            journal = read_journal(folder.journal)
        except FileNotFoundError:
            journal = Journal((), 0)
    except (OSError, ValueError) as error:
        raise Unreadable(str(error)) from error
    state = RunState()
    for event in journal.events:
        state.apply(event)
    return Earlier(folder, journal.events, state, _skill_of(folder), journal.warning)


def _skill_of(folder: RunFolder) -> Skill:
    """A skill that draws the flow as the run last used it."""
    from flowstudio.run.plain_prompt import prompt_request
    from flowstudio.run.sources import recorded_source
    from flowstudio.skill import Skill, SkillError, load_skill, reread

    header = folder.header
    if header.rounds is not None:
        request = prompt_request(header.input, header.rounds)
        return drawn_only(request.name, request.source, Path(header.work_dir))
    revisions = [
        int(number)
        for file in (folder.path / "flow").glob("*-*")
        if (number := file.name.partition("-")[0]).isdecimal()
    ]
    source = recorded_source(folder, max(revisions, default=1))
    path = _file_of(header) or Path(header.work_dir) / f"{header.flow}.mmd"
    try:
        now = load_skill(path)
        if now.source == source.text or source.flow is None:
            return now
        return reread(now, source.text)
    except SkillError:
        pass
    if source.flow is None:
        raise Unreadable(f"{folder.id}: the flow cannot be drawn: {source.problem}")
    blank = Skill(header.flow, "", "flow", "flow", "project", path, path.parent)
    return reread(blank, source.text)


def _file_of(header: Header) -> Path | None:
    """The flow's file, by its whole path; None for a flow that came from none."""
    return (Path(header.work_dir) / header.path).absolute() if header.path else None


def drawn_only(name: str, source: str, folder: Path) -> Skill:
    """A skill that stands for a Mermaid chart in no file."""
    from flowstudio.skill import Skill, reread

    path = folder / f"{name}.mmd"  # no such file: it is only drawn
    return reread(Skill(name, "", "flow", "flow", "project", path, folder), source)


def find_unfinished(root: Path, flow: Path) -> RunSummary | None:
    """The latest run of the flow in this file, if it was broken off and nobody writes it."""
    from flowstudio.run.history import list_runs

    for run in list_runs(root):
        header = run.header
        if header is not None and _file_of(header) == flow.absolute():
            return run if run.standing in ("broken off", "forked") else None
    return None
