"""How well a skill keeps to the methodologies, and how it did so far (design: "方法论评分机制")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from flowstudio.mindflow.model import UNSCORED, History, LibrarySkill, Methodology

METHODOLOGY_SHARE = 0.7
HISTORY_SHARE = 0.3


class Compliance(NamedTuple):
    """What one methodology adds to a score."""

    methodology: Methodology
    compliance: float
    """0 to 1; `UNSCORED` where the skill says nothing."""
    is_given: bool


@dataclass(frozen=True, slots=True)
class Score:
    """A skill's score with everything that went into it."""

    value: float
    """0 to 1."""
    base: float
    """The methodologies alone, 0 to 1."""
    parts: tuple[Compliance, ...] = ()
    history: History = field(default_factory=History)


def score_skill(
    skill: LibrarySkill, methodologies: Iterable[Methodology], history: History | None = None
) -> Score:
    """Σ(weight × compliance) / Σ weight; with history 0.7 of that and 0.3 of the success rate.

    Without methodologies, or where all weigh nothing, the base is `UNSCORED`.
    """
    given = skill.methodology_scores
    parts = tuple(
        Compliance(one, given.get(one.id, UNSCORED), one.id in given) for one in methodologies
    )
    total = sum(part.methodology.weight for part in parts)
    weighted = sum(part.methodology.weight * part.compliance for part in parts)
    base = weighted / total if total > 0 else UNSCORED
    history = history or History()
    value = base
    if history.usage_count > 0:
        value = METHODOLOGY_SHARE * base + HISTORY_SHARE * history.success_rate
    return Score(clamp(value), base, parts, history)


def clamp(value: float) -> float:
    """The nearest number from 0 to 1."""
    return min(max(value, 0.0), 1.0)
