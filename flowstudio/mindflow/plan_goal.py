"""From a goal in words to the states that it means.

A model reads it where there is one. Without one, or where its answer cannot be used, the goal's
words are held against the states' names, what they mean, and what the skills that bring them about
are called and asked for, in English and in Chinese.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast
from unicodedata import normalize

from flowstudio.mindflow.failing import Troubles, ask_model
from flowstudio.mindflow.lexical import terms

if TYPE_CHECKING:
    from flowstudio.mindflow.failing import Sleep
    from flowstudio.mindflow.model import Library
    from flowstudio.models.llm import LLM

MOST_GOALS = 4
"""States that one goal is taken to mean at most, where words decide."""
MOST_SHOWN = 150
"""States that a model is shown, the nearest first; more would cost more than they bring."""
_MOST_TRIES = 100
"""Openings in a model's answer at which JSON is looked for."""

_LEAST = 0.45
"""A further state must match at least this share of what the first one matches, by the two words
of each that say most."""
_ACROSS = 0.3
_ENOUGH = 0.2
"""Any state must match at least this share of what the goal's words say that are not matched yet: a
goal that the library does not know shares a word with something, too."""
_WEIGHTS = {"name": 1.0, "meaning": 0.9, "producer": 0.6}
"""How much a word counts by where it stands."""

_OF_GOALS = frozenset(
    {
        "turn",
        "mak",
        "need",
        "want",
        "som",
        "pleas",
        "需要",
        "生成",
        "一件",
        "一份",
        "可以",
        "想要",
        "我要",
        "我的",
    }
)
"""Words that goals have whatever they are about, beside those that all texts have."""

_SYSTEM = """\
You turn a goal into the states that it wants to hold. You are given states, one a line, each with
what it means. Answer with JSON alone: {"goals": ["state", ...], "given": ["state", ...]}.
"goals" are the states that the goal asks for in the end, in the order in which they are wanted;
leave out those that are only on the way there. "given" are the states that the goal takes for
granted: what is there to begin with. Write states exactly as in the list. If none fits, answer
{"goals": [], "given": []}."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal as it was understood."""

    text: str
    states: tuple[str, ...]
    """In the order in which they are wanted; empty where nothing fits."""
    by: Literal["names", "model", "words", "nobody"]
    """How it was understood: states were given by name, a model read it, or its words matched."""
    near: tuple[str, ...] = ()
    """Where nothing fits: the states that are nearest, to choose from."""
    given: tuple[str, ...] = ()
    """The states that the goal seems to take for granted: “from this CSV”."""


async def read_goal(
    text: str,
    library: Library,
    *,
    llm: LLM | None = None,
    troubles: Troubles | None = None,
    sleep: Sleep = asyncio.sleep,
) -> Goal:
    """The states that a goal means. Never raises for what a model does or does not answer."""
    troubles = troubles if troubles is not None else Troubles()
    named = _named_states(text, library)
    if named:
        return Goal(text, named, "names")
    if llm is not None:
        ranked = [state for state, _ in rank_states(text, library)]
        others = [state for state in _all_states(library) if state not in ranked]
        shown = [*ranked, *others][:MOST_SHOWN]
        rows = "\n".join(
            f"- {state}: {library.states.get(state, '')}".rstrip(": ") for state in shown
        )
        prompt = (
            f"The goal:\n{text}\n\nThe states:\n{rows}\n\nAnswer with JSON for this goal:\n{text}"
        )
        answer = await ask_model(llm, _SYSTEM, prompt, troubles, sleep=sleep)
        if answer is not None:
            read = parse_goals(answer, shown)
            if read is None:
                troubles.add(
                    "The model's answer could not be understood. The goal is read by its words."
                )
            elif read[0]:
                return Goal(text, read[0], "model", given=read[1])
    return match_goal(text, library)


def match_goal(text: str, library: Library) -> Goal:
    """The states that the goal's own words mean."""
    if named := _named_states(text, library):
        return Goal(text, named, "names")
    docs = _documents(library)
    rarity = _rarity(docs)
    left = set(words(text))
    found: list[str] = []
    unknown = math.log(1 + len(docs))
    first = 0.0
    possible = set(_possible(library))
    while left and len(found) < MOST_GOALS:
        gain, state = max(
            ((_gain(left, doc, rarity), state) for state, doc in docs.items()),
            key=lambda pair: (pair[0], pair[1] in possible),
            default=(0.0, ""),
        )
        # Where there are no blanks, most unknown pairs only lie across two words.
        whole = sum(
            rarity.get(word, unknown if word.isascii() else _ACROSS * unknown) for word in left
        )
        if not gain or gain < _ENOUGH * whole:
            break
        peak = _peak(left, docs[state], rarity)
        if peak < _LEAST * first:
            break
        first = first or peak
        left -= docs[state].keys()
        # What nobody can bring about is what the goal begins with, not what it wants.
        if state in possible:
            found.append(state)
    if found:
        states = tuple(_in_order(text, found, docs))
        return Goal(text, states, "words", given=_find_given(text, library))
    near = tuple(state for state, _ in rank_states(text, library))[:3]
    return Goal(text, (), "nobody", near or tuple(_possible(library))[:3])


def rank_states(text: str, library: Library) -> list[tuple[str, float]]:
    """The states that can be brought about and share words with `text`, the nearest first."""
    docs = _documents(library)
    rarity = _rarity(docs)
    wanted = set(words(text))
    found = [(state, _gain(wanted, docs[state], rarity)) for state in _possible(library)]
    return sorted(
        ((s, gain) for s, gain in found if gain > 0), key=lambda pair: (-pair[1], pair[0])
    )


def parse_goals(
    answer: str, states: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The states that a model's answer names as goals and as given; None where it is no such JSON.

    A state that is not in the list is taken for the one that it all but is, or left out.
    """
    for match in islice(re.finditer(r"[{\[]", answer), _MOST_TRIES):
        try:
            value: object = json.JSONDecoder().raw_decode(answer, match.start())[0]
        except (ValueError, RecursionError):
            continue
        given: object = None
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            value, given = fields.get("goals"), fields.get("given")
        if isinstance(value, list):
            goals = _known(cast("list[object]", value), states)
            taken = cast("list[object]", given) if isinstance(given, list) else []
            return goals, tuple(one for one in _known(taken, states) if one not in goals)
    return None


def _known(names: list[object], states: Collection[str]) -> tuple[str, ...]:
    found: list[str] = []
    for one in names:
        if isinstance(one, str):
            found += [one] if one in states else get_close_matches(one, list(states), 1, 0.8)
    return tuple(dict.fromkeys(found))


def _find_given(text: str, library: Library) -> tuple[str, ...]:
    """The states that no skill brings about and the goal speaks of: what it begins with."""
    possible = set(_possible(library))
    docs = {
        state: dict.fromkeys(
            words(f"{state.replace('_', ' ')} {library.states.get(state, '')}"), 1.0
        )
        for state in _all_states(library)
        if state not in possible
    }
    rarity = _rarity(docs)
    # A word that several of them share says nothing about which one is meant.
    telling = {word for word in words(text) if rarity.get(word, 0.0) >= math.log(1 + len(docs) / 2)}
    gains = {state: _gain(telling, doc, rarity) for state, doc in docs.items()}
    best = max(gains.values(), default=0.0)
    return tuple(state for state, gain in gains.items() if gain and gain >= 0.8 * best)[:2]


def find_states(names: Collection[str], library: Library) -> tuple[list[str], list[str]]:
    """The states of these names, and a sentence for each name that no skill knows.

    An unknown one is kept: it may be of a skill that is not written yet.
    """
    known = _all_states(library)
    odd: list[str] = []
    for name in names:
        if name not in known:
            near = get_close_matches(name, list(known), 1, 0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            odd.append(f"no skill here knows the state {name}{hint}")
    return list(dict.fromkeys(names)), odd


def words(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [word for word in terms(normalize("NFKC", text)) if word not in _OF_GOALS]


def _possible(library: Library) -> list[str]:
    """The states that some skill brings about, in the library's order."""
    return list(dict.fromkeys(s for skill in library.skills.values() for s in skill.effects))


def _all_states(library: Library) -> dict[str, None]:
    known = dict.fromkeys(library.states)
    for skill in library.skills.values():
        known.update(dict.fromkeys((*skill.preconditions, *skill.effects)))
    return known


def _named_states(text: str, library: Library) -> tuple[str, ...]:
    """The states where the goal is nothing but their names."""
    parts = [part for part in re.split(r"[\s,，、;；]+", text.strip()) if part]
    known = _all_states(library)
    return tuple(dict.fromkeys(parts)) if parts and all(part in known for part in parts) else ()


def _documents(library: Library) -> dict[str, dict[str, float]]:
    """The words that speak of each state, each with its weight."""
    docs: dict[str, dict[str, float]] = {}

    def add(state: str, text: str, kind: str) -> None:
        doc = docs.setdefault(state, {})
        for word in words(text):
            doc[word] = max(doc.get(word, 0.0), _WEIGHTS[kind])

    for state in _all_states(library):
        add(state, state.replace("_", " ").replace("-", " "), "name")
        add(state, library.states.get(state, ""), "meaning")
    for skill in library.skills.values():
        for state in skill.effects:
            add(state, " ".join((skill.name, skill.title, *skill.utterances)), "producer")
    return docs


def _rarity(docs: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for doc in docs.values():
        for word in doc:
            counts[word] = counts.get(word, 0) + 1
    return {word: math.log(1 + len(docs) / number) for word, number in counts.items()}


def _gain(left: Collection[str], doc: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    return sum(doc[word] * rarity[word] for word in left if word in doc)


def _peak(left: Collection[str], doc: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    gains = sorted((doc[word] * rarity[word] for word in left if word in doc), reverse=True)
    return sum(gains[:2])


def _in_order(text: str, states: list[str], docs: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The states in the order in which the goal speaks of them."""
    order = words(text)

    def place(state: str) -> int:
        return min((at for at, word in enumerate(order) if word in docs[state]), default=len(order))

    return sorted(states, key=place)
