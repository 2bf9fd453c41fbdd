"""A recorded run as a tape: what comes next, and what belongs to the runner or to its soul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flowstudio.wire import (
    Body,
    ChoiceMade,
    ChoiceRejected,
    CommandGiven,
    Event,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunPaused,
    RunReopened,
    RunResumed,
    RunStarted,
)

_OF_THE_RUNNER = (
    RunStarted,
    RunReopened,
    NodeEntered,
    PromptSent,
    ChoiceRejected,
    ChoiceMade,
    NodeLeft,
    CommandGiven,
    RunPaused,
    RunResumed,
    RunEnded,
)
"""What the runner says by itself in a replay; all else is played back as it was recorded."""


@dataclass(slots=True)
class Tape:
    """The events of one stretch of a run: from its start, or where it was taken up, to its end."""

    events: Sequence[Event]
    at: int = 0
    """The event that comes next."""

    @property
    def is_over(self) -> bool:
        """True where nothing more was recorded."""
        return self.at >= len(self.events)

    @property
    def next(self) -> Event | None:
        """The event that comes next."""
        return self.events[self.at] if self.at < len(self.events) else None

    def next_of_runner(self, *, commands: bool = False) -> Event | None:
        """The next event that is the runner's own; its commands are left out unless wanted."""
        for event in self.events[self.at :]:
            if isinstance(event.body, CommandGiven) and not commands:
                continue
            if isinstance(event.body, _OF_THE_RUNNER):
                return event
        return None

    def next_is(self, *reasons: str) -> str | None:
        """The message of the pause or the end that comes next, if it is for one of the reasons."""
        event = self.next_of_runner()
        match event.body if event else None:
            case RunPaused(why=reason, message=message) | RunEnded(reason=reason, message=message):
                return message if reason in reasons else None
            case _:
                return None

    def find[T: Body](self, *kinds: type[T]) -> Event | None:
        """The next event of some kinds."""
        for event in self.events[self.at :]:
            if isinstance(event.body, kinds):
                return event
        return None

    def seek(self, node: str | None, visit: int | None, kind: type[Body]) -> bool:
        """Go to an event of a visit, wherever it is; False where there is none."""
        order = [*range(self.at, len(self.events)), *range(self.at)]
        for index in order:
            event = self.events[index]
            if (event.node, event.visit) == (node, visit) and isinstance(event.body, kind):
                self.at = index
                return True
        return False


def is_foreign(event: Event) -> bool:
    """True for what the runner does not say: it comes from the soul, the session or the user."""
    return not isinstance(event.body, _OF_THE_RUNNER)


def split(events: Sequence[Event]) -> list[tuple[Sequence[Event], Tape]]:
    """A run's stretches, each with the events before it that belong to none."""
    starts = [
        index for index, one in enumerate(events) if isinstance(one.body, RunStarted | RunReopened)
    ]
    found: list[tuple[Sequence[Event], Tape]] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(events)
        # What a session says before it takes a run up follows the end of the stretch before.
        own = end
        for index in range(start, end):
            if isinstance(events[index].body, RunEnded):
                own = index + 1
                break
        before = [] if number else list(events[:start])
        found.append((before, Tape(events[start:own])))
        if own < end:
            found.append((events[own:end], Tape(())))
    if not starts:
        found.append((events, Tape(())))
    return found


def same(recorded: Event, body: Body, node: str | None, visit: int | None) -> bool:
    """Whether something said now is what was recorded, times aside."""
    return (recorded.node, recorded.visit) == (node, visit) and timeless(recorded.body) == timeless(
        body
    )


def timeless(body: Body) -> Body:
    """A body without the times in it."""
    return replace(body, seconds=0.0) if isinstance(body, NodeLeft) else body


def settled(body: Body, recorded: Event) -> Body:
    """What is said, with the words of the surroundings as they were recorded."""
    match body, recorded.body:
        case (RunPaused(why="disk"), RunPaused(why="disk")):
            return recorded.body
        case (RunEnded(reason="disk"), RunEnded(reason="disk")):
            return recorded.body
        case (NodeLeft(), NodeLeft(seconds=seconds)):
            return replace(body, seconds=seconds)
        case _:
            return body
