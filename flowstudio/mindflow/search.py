"""From similarities to an answer: shares, scores, context, the decision, and why.

The design takes the five most similar skills, scores them, adds what the context says, and gives
the best where it leads by more than 0.3, else three to choose from. Raw similarities cannot be
compared so: with one model all lie between 0.75 and 0.9. So a similarity is first made a *share*:
how likely this skill is the one that was meant, among all candidates and the possibility that none
is. A similarity greater by the model's `spread` is e times as likely, and the methodology score is
the weight that a skill goes in with:

    share = score · e^(similarity / spread)  over  the sum of all, and of 0.5 · e^(floor / spread)

Shares lie between 0 and 1, and so the design's 0.3 and 0.5 mean the same for every model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flowstudio.mindflow.context import Boost, Context, boost_skill
from flowstudio.mindflow.model import UNSCORED, History, Library, LibrarySkill
from flowstudio.mindflow.scoring import Score, clamp, score_skill

CANDIDATES = 5
"""How many of the most similar skills are scored."""
CHOICES = 3
"""How many are given to choose from."""
CLEAR_GAP = 0.3
"""The lead of a best one."""
WEAK = 0.5
"""Below this a best one is no find, and the graph is asked for others."""

type Relation = Literal["", "sibling", "calls", "called by", "upstream", "downstream"]
type Verdict = Literal["best", "choose", "nothing"]

_RELATIONS: Mapping[Relation, str] = {
    "sibling": "keeps to the same methodologies as {}",
    "calls": "{} calls it",
    "called by": "it calls {}",
    "upstream": "it produces what {} needs",
    "downstream": "it needs what {} produces",
}


@dataclass(frozen=True, slots=True)
class Scale:
    """How the similarities of a model are to be read; see the module's text."""

    spread: float
    floor: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill with everything that speaks for it."""

    skill: LibrarySkill
    similarity: float
    """As the model or the words gave it; comparable only within one answer."""
    share: float
    """How likely it is meant, 0 to 1, its score taken in."""
    score: Score
    boost: Boost
    total: float
    """Share and boost, 0 to 1: what the decision looks at."""
    relation: Relation = ""
    """How it came in where not by similarity: by its relation to `related_to`."""
    related_to: str = ""

    def why(self) -> tuple[str, ...]:
        """The reasons in words, one a line."""
        sure = "over 99%" if self.share > 0.99 else f"{self.share:.0%}"
        lines = [f"similarity {self.similarity:.2f}: {sure} likely to be meant"]
        if self.relation:
            lines.append(_RELATIONS[self.relation].format(self.related_to))
        given = [part for part in self.score.parts if part.is_given]
        named = ", ".join(
            f"{part.methodology.id.removeprefix('meth_')} {part.compliance:g}" for part in given
        )
        lines.append(f"methodologies {self.score.base:.2f}" + (f" ({named})" if named else ""))
        history = self.score.history
        if history.usage_count:
            times = "once" if history.usage_count == 1 else f"{history.usage_count} times"
            lines.append(f"used {times}, {history.success_rate:.0%} of them went well")
        if self.boost.value:
            what = [*self.boost.topics, *([self.boost.project] if self.boost.project else [])]
            lines.append(f"context +{self.boost.value:.2f} ({', '.join(what)})")
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for a query."""

    query: str
    verdict: Verdict
    """`best`: the first candidate is it. `choose`: the user picks. `nothing`: none fits."""
    candidates: tuple[Candidate, ...]
    """The best first."""
    gap: float = 0.0
    """The lead of the first over the second."""
    by: str = ""
    """What compared the texts: a model's name, or `words`."""
    notes: tuple[str, ...] = ()
    """What the user should know: what does not work, and what was done instead."""

    @property
    def best(self) -> Candidate | None:
        """The one that is clearly meant; None where there is none or a choice is needed."""
        return self.candidates[0] if self.verdict == "best" else None


@dataclass(frozen=True, slots=True)
class Found:
    """A skill that may be meant, and how it came in."""

    name: str
    similarity: float
    relation: Relation = ""
    related_to: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that is known besides the similarities."""

    library: Library
    scale: Scale
    context: Context = field(default_factory=Context)
    histories: Mapping[str, History] = field(default_factory=dict[str, History])

    def rank(self, found: Sequence[Found]) -> list[Candidate]:
        """The candidates, the best total first. Names that are not in the library are left out."""
        known = [one for one in found if one.name in self.library.skills]
        if not known:
            return []
        skills = [self.library.skills[one.name] for one in known]
        methodologies = tuple(self.library.methodologies.values())
        scores = [
            score_skill(skill, methodologies, self.histories.get(skill.name)) for skill in skills
        ]
        shares = share_out(
            [one.similarity for one in known], [score.value for score in scores], self.scale
        )
        highest = max(shares)
        ranked: list[Candidate] = []
        for one, skill, score, share in zip(known, skills, scores, shares, strict=True):
            nearness = share / highest if highest > 0 else 0.0
            boost = boost_skill(skill, self.context, nearness)
            total = clamp(share + boost.value)
            ranked.append(
                Candidate(
                    skill, one.similarity, share, score, boost, total, one.relation, one.related_to
                )
            )
        ranked.sort(key=lambda one: (-one.total, -one.share, one.skill.name))
        return ranked


def share_out(similarities: Sequence[float], weights: Sequence[float], scale: Scale) -> list[float]:
    """How likely each is meant; the rest to 1 is how likely none is. See the module's text."""
    top = max([*similarities, scale.floor])
    gains = [
        # A score of 0 says that a skill is poor, not that it cannot be meant.
        max(weight, 0.01) * math.exp((similarity - top) / scale.spread)
        for similarity, weight in zip(similarities, weights, strict=True)
    ]
    none = UNSCORED * math.exp((scale.floor - top) / scale.spread)
    whole = sum(gains) + none
    return [gain / whole for gain in gains]


def decide(ranked: Sequence[Candidate], scale: Scale) -> tuple[Verdict, float]:
    """The verdict on ranked candidates, and the gap between the first two."""
    if not ranked or max(one.similarity for one in ranked) < scale.floor:
        return "nothing", 0.0
    second = ranked[1].total if len(ranked) > 1 else 0.0
    gap = ranked[0].total - second
    return ("best" if gap > CLEAR_GAP else "choose"), gap


def is_weak(ranked: Sequence[Candidate]) -> bool:
    """True where nothing was found that is likely enough by itself."""
    return not ranked or ranked[0].total < WEAK
