"""A run again, without a model: the real runner on the flow, with the recorded answers.

The runner walks, fills prompts, reads choices and counts as ever; what the model, the tools and the
user did is taken from the journal. So a replay shows what the run showed, event by event, and an
edited flow can be tried on the answers that an earlier run got.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flowstudio.flow.model import Flow
from flowstudio.run.folder import Header, open_run
from flowstudio.run.journal import read_journal
from flowstudio.run.replay_ends import Mismatch
from flowstudio.run.replay_stretch import Stretch
from flowstudio.run.resume import ResumeRefused
from flowstudio.run.sources import current_source, recorded_source
from flowstudio.run.tape import split
from flowstudio.wire import (
    Consumer,
    EndReason,
    Event,
    PromptSent,
    RunEnded,
    RunReopened,
)

__all__ = ["Mismatch", "ReplayOutcome", "play", "replay"]


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """What came of a replay."""

    reason: EndReason | None
    """How it ended; None where the recording breaks off."""
    events: int
    mismatch: Mismatch | None = None


async def replay(
    path: Path,
    consumer: Consumer,
    *,
    which: Literal["recorded", "current"] = "recorded",
    strict: bool = False,
) -> ReplayOutcome:
    """Replay the run in a folder; `consumer` hears its events. Nothing is written.

    Raises:
        ResumeRefused: the flow cannot be read.
        what `read_journal` and `open_run` raise.
    """
    folder = open_run(path)
    events = read_journal(folder.journal).events

    def find_flow(revision: int) -> Flow:
        source = current_source(folder) if which == "current" else None
        source = source or recorded_source(folder, revision)
        if source.flow is None:
            raise ResumeRefused(f"the flow cannot be run: {source.problem}")
        return source.flow

    follows = which == "recorded"
    return await play(
        events, folder.header, find_flow, consumer, strict=strict, follows_reloads=follows
    )


async def play(
    events: Sequence[Event],
    header: Header,
    find_flow: Callable[[int], Flow],
    consumer: Consumer,
    *,
    strict: bool = False,
    follows_reloads: bool = True,
) -> ReplayOutcome:
    """Replay recorded events; `find_flow` gives the flow at a revision."""
    count = 0
    reason: EndReason | None = None

    def hear(event: Event) -> None:
        nonlocal count, reason
        count += 1
        if isinstance(event.body, RunEnded):
            reason = event.body.reason
        elif isinstance(event.body, RunReopened):
            reason = None
        consumer(event)

    seen: list[Event] = []
    prompts = [event.body.prompt for event in events if isinstance(event.body, PromptSent)]
    for before, tape in split(events):
        for event in before:
            hear(event)
        seen += before
        if tape.is_over:
            continue
        stretch = Stretch(tape, header, find_flow, prompts, strict, follows_reloads)
        stretch.wire.subscribe(hear)
        mismatch = await stretch.play(seen)
        if mismatch is not None:
            return ReplayOutcome(reason, count, mismatch)
        seen += tape.events
    return ReplayOutcome(reason, count)
