"""Looking at an earlier moment: of the run that is on, or of one that is long over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.run.moment import Moments
    from flowstudio.run.state import RunState, Visit
    from flowstudio.skill.skill import Skill


@dataclass(frozen=True, slots=True)
class Look:
    """One visit of a run, and the run as it stood there."""

    moments: Moments
    """Those of the whole run, whose visits can be looked at."""
    skill: Skill
    """Draws its flow."""
    folder: Path | None
    """The run's folder; None where it is kept on no disk."""
    index: int
    """The visit that is looked at, in `run.visits`."""
    then: RunState
    """The run as it stood at that visit."""
    is_live: bool = False
    """True where it is the run that is on, or the last one."""

    @property
    def run(self) -> RunState:
        """The whole run."""
        return self.moments.run

    @property
    def visit(self) -> Visit:
        """The visit that is looked at."""
        return self.run.visits[self.index]

    def at(self, index: int) -> Look | None:
        """The look at another visit of the same run; None where it has none such."""
        if not 0 <= index < len(self.run.visits):
            return None
        return replace(self, index=index, then=self.moments.at(index))


def look_at(
    run: RunState, skill: Skill, folder: Path | None, index: int, *, is_live: bool = False
) -> Look:
    """The look at visit `index` of a run.

    Raises:
        IndexError: the run has no such visit.
    """
    from flowstudio.run.moment import Moments

    moments = Moments(run)
    return Look(moments, skill, folder, index, moments.at(index), is_live)
