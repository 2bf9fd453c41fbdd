"""How near a query is to a skill: by what people say, by what the skill says of itself, by words.

A skill is found by three kinds of evidence, and each alone misses what the others see:

- what people say when they want it: of these sentences the nearest eighth counts, by its mean. A
  single nearest sentence is often a chance hit, and the mean of all punishes a skill of many uses.
- its name and description: the nearest of these texts counts a ninth.
- shared words: a query all of whose known words stand in the skill's texts is as much nearer as
  `WORDS_WORTH` times the spread of the model.

Among many sentences one is near to almost any query, so a skill of few would never come up: it gets
a handicap that falls with their number. One without any is also found by lines of its instructions.

The constants were chosen on tests/mindflow/tuning.yaml: see tests/benchmarks/bench_find.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flowstudio.mindflow.lexical import LexicalIndex
from flowstudio.mindflow.values import clean

if TYPE_CHECKING:
    from flowstudio.mindflow.model import LibrarySkill

POOLED = 8
"""One in so many of a skill's sentences counts, the nearest ones; at least one."""
ABOUT_SHARE = 1 / 9
"""The share of name and description beside the sentences."""
WORDS_WORTH = 18.0
"""What sharing all words is worth, in spreads of the model."""
HANDICAP = 17.0
"""What a skill without sentences is given, in spreads of the model…"""
HALVED_BY = 3
"""…and so many sentences halve it."""
LINES = 32
"""Lines of its instructions that a skill without sentences is found by."""
LINES_SHARE = 1 / 2
"""The share of these lines beside name and description."""
_SHORTEST = 25
"""Bytes of a line that says something."""


def about_texts(skill: LibrarySkill) -> tuple[str, ...]:
    """What a skill says of itself: its name, and its name with its description."""
    named = ". ".join(dict.fromkeys(filter(None, (skill.name.replace("-", " "), skill.title))))
    texts = (named, f"{named}. {skill.description}" if skill.description else "")
    return tuple(text for text in texts if text.strip())


def texts_of(skill: LibrarySkill) -> tuple[str, ...]:
    """All texts that a skill is found by: those about it first, then what people say."""
    said = skill.utterances or _lines_of(skill)
    return tuple(dict.fromkeys((*about_texts(skill), *said)))


def _lines_of(skill: LibrarySkill) -> tuple[str, ...]:
    """The first lines of its instructions that are sentences."""
    lines = skill.skill.body.splitlines() if skill.skill else ()
    telling = (line.strip() for line in lines)
    kept = [one for one in telling if len(one.encode()) > _SHORTEST and not one.startswith("|")]
    return tuple(clean(one) for one in kept[:LINES])


def words_of(skill: LibrarySkill) -> str:
    """The words that a skill is found by, as one text."""
    return " ".join((skill.name, skill.title, skill.description, *skill.utterances))


def nearness(about: Sequence[float], said: Sequence[float], *, is_said: bool = True) -> float:
    """From the similarities of texts to that of their skill; one of the two may be empty.

    `is_said` is False where the second are lines of the instructions, not what people say.
    """
    if not said:
        return max(about, default=0.0)
    count = max(1, round(len(said) / POOLED))
    pooled = sum(sorted(said, reverse=True)[:count]) / count
    if not about:
        return pooled
    share = ABOUT_SHARE if is_said else 1 - LINES_SHARE
    return (1 - share) * pooled + share * max(about)


def handicap(sentences: int) -> float:
    """What a skill of so many sentences is nearer by, in spreads of the model."""
    return HANDICAP * HALVED_BY / (HALVED_BY + sentences)


def shared_words(words: LexicalIndex, query: str, most: int) -> dict[str, float]:
    """For the skills that share words with a query: how much of it, 0 to 1, the most first."""
    highest = words.highest(query) or 1.0
    return {name: min(score / highest, 1.0) for name, score in words.rank(query, most)}
