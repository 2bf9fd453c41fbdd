"""How risky a change to the library is, and whether the user is asked (the three levels).

The table and the bounds are those of the Mindflow design ("用户交互三级策略").
"""

from __future__ import annotations

from typing import Literal

type ChangeKind = Literal["artifact_add", "skill_update", "skill_create", "methodology_change"]
type Reach = Literal["local", "global"]
"""`local`: the skills of one project. `global`: the user's own, which all projects have."""
type Level = Literal["silent", "queued", "now"]
"""`silent`: done without a word; `queued`: shown when the task ends; `now`: asked at once."""

BASE: dict[ChangeKind, float] = {
    "artifact_add": 0.1,
    "skill_update": 0.5,
    "skill_create": 0.6,
    "methodology_change": 0.9,
}
FACTOR: dict[Reach, float] = {"local": 1.0, "global": 1.5}

SILENT_BELOW = 0.3
QUEUED_TO = 0.8
MUST_ANSWER_ABOVE = 0.7
"""What is queued and riskier than this waits for the user however long it takes."""
APPROVES_AFTER = 3600.0
"""Seconds after which the rest of the queue approves itself."""


def find_risk(kind: ChangeKind, reach: Reach) -> float:
    """Base times reach, 0 to 1."""
    return round(min(max(BASE[kind] * FACTOR[reach], 0.0), 1.0), 4)


def find_level(risk: float) -> Level:
    """What is done about a risk."""
    if risk < SILENT_BELOW:
        return "silent"
    return "queued" if risk <= QUEUED_TO else "now"


def must_answer(risk: float) -> bool:
    """True where a queued change never approves itself."""
    return risk > MUST_ANSWER_ABOVE
