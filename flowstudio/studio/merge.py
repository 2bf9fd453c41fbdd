"""Three texts into one: what the author changed, and what somebody else changed meanwhile.

A change is a run of lines. Where both sides changed different runs, both changes stand; where both
changed the same run in different ways, or runs that touch, nobody but the author can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MOST_WORK = 4_000_000
"""Pairs of lines that are compared at most; beyond it a change counts as one whole run."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The result. With conflicts, `text` holds the author's side of them."""

    text: str
    conflicts: int


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Both changes of `base` in one text. Lines end at LF, and keep their ends."""
    if mine == theirs or theirs == base:
        return Merged(mine, 0)
    if mine == base:
        return Merged(theirs, 0)
    old, ours, others = (text.splitlines(keepends=True) for text in (base, mine, theirs))
    pieces: list[str] = []
    conflicts = 0
    at = (0, 0, 0)
    for start, ours_at, others_at, length in [
        *_unchanged(old, ours, others),
        (len(old), len(ours), len(others), 0),
    ]:
        was, left, right = old[at[0] : start], ours[at[1] : ours_at], others[at[2] : others_at]
        if left == was:
            pieces += right
        else:
            conflicts += right not in (was, left)
            pieces += left
        pieces += old[start : start + length]
        at = (start + length, ours_at + length, others_at + length)
    return Merged("".join(pieces), conflicts)


def _unchanged(
    old: Sequence[str], ours: Sequence[str], others: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """The runs of lines that both sides kept: where they begin in each text, and their length."""
    left, right = _matches(old, ours), _matches(old, others)
    i = j = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        start, end = max(a[0], b[0]), min(a[0] + a[2], b[0] + b[2])
        if start < end:
            yield start, a[1] + start - a[0], b[1] + start - b[0], end - start
        if a[0] + a[2] < b[0] + b[2]:
            i += 1
        else:
            j += 1


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs that are the same in both: begin in `old`, begin in `new`, length."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found: list[tuple[int, int, int]] = [(0, 0, head)] if head else []
    was, now = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(was) * len(now) <= _MOST_WORK:
        matcher = SequenceMatcher(None, was, now, autojunk=False)
        found += [(head + a, head + b, n) for a, b, n in matcher.get_matching_blocks() if n]
    if tail:
        found.append((len(old) - tail, len(new) - tail, tail))
    return found
