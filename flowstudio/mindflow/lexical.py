"""Ranking by words alone: BM25, with pairs of characters where a script has no blanks.

It serves where no embedder is installed or one failed. It finds only what shares words with the
query, which is why a search that fell back to it says so.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

K1 = 1.2
"""How soon more of the same word says nothing new (BM25)."""
B = 0.75
"""How much long texts are held back (BM25)."""

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_STOP_WORDS = (
    "a an and are as at be but by can do does for from get give had has have he her his how i if "
    "in into is it its let me my of off on or our out she so that the their them then there these "
    "they this those to up us was we were what when where which who why will with would you your "
    "的 了 和 是 在 我 把 一下 这个 那个 一个 怎么 什么 给我 帮我 请 吗 吧 呢"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """The words of a text as they are compared: small letters, without endings and stop words.

    Where a script has no blanks, each pair of neighbouring characters is a word; a character that
    stands alone is one by itself.
    """
    return [_stem(word) if word.isascii() else word for word in keywords(text)]


def keywords(text: str) -> list[str]:
    """The same words as they are written: in small letters, with their endings."""
    found: list[str] = []
    for run in _WORD.findall(text.casefold()):
        at = 0
        for han in _HAN.finditer(run):
            _add_word(run[at : han.start()], found)
            _add_pairs(han[0], found)
            at = han.end()
        _add_word(run[at:], found)
    return found


def _add_word(word: str, found: list[str]) -> None:
    if word and word not in STOP_WORDS:
        found.append(word)


def _add_pairs(text: str, found: list[str]) -> None:
    if len(text) == 1 and text not in STOP_WORDS:
        found.append(text)
    pairs = (text[at : at + 2] for at in range(len(text) - 1))
    found += (pair for pair in pairs if pair not in STOP_WORDS)


def _stem(word: str) -> str:
    """The word without the commonest English endings: enough for plan, plans and planning."""
    for ending in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    # planning and plan, tidies and tidy, analyse and analysing
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word[:-1] + "y" if word.endswith("i") else word.rstrip("e") or word


@dataclass(slots=True)
class LexicalIndex:
    """Texts by key, and which of them hold which words."""

    _counts: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    _holders: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _lengths: dict[str, int] = field(default_factory=dict[str, int])
    _total: int = 0

    def __len__(self) -> int:
        return len(self._counts)

    def put(self, key: str, text: str) -> None:
        """Add the text of `key`, or take it in place of the earlier one."""
        self.drop(key)
        counts = Counter(terms(text))
        self._counts[key] = counts
        self._lengths[key] = counts.total()
        self._total += counts.total()
        for term in counts:
            self._holders[term].add(key)

    def drop(self, key: str) -> None:
        """Forget `key`, if it is there."""
        counts = self._counts.pop(key, None)
        if counts is None:
            return
        self._total -= self._lengths.pop(key)
        for term in counts:
            self._holders[term].discard(key)
            if not self._holders[term]:
                del self._holders[term]

    def sync(self, texts: Mapping[str, str]) -> None:
        """Hold exactly `texts`."""
        for key in [key for key in self._counts if key not in texts]:
            self.drop(key)
        for key, text in texts.items():
            self.put(key, text)

    def rank(self, query: str, most: int) -> list[tuple[str, float]]:
        """The best `most` keys with their BM25 score, best first; those that share no word never.

        Equal scores stand in the order of their keys.
        """
        scores: dict[str, float] = {}
        mean = self._total / max(len(self._counts), 1)
        for term in dict.fromkeys(terms(query)):
            holders: Iterable[str] = self._holders.get(term, ())
            if not holders:
                continue
            weight = self._weight(term)
            for key in holders:
                count = self._counts[key][term]
                held_back = 1 - B + B * self._lengths[key] / max(mean, 1)
                gain = weight * count * (K1 + 1) / (count + K1 * held_back)
                scores[key] = scores.get(key, 0.0) + gain
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:most]

    def highest(self, query: str) -> float:
        """About what a text would score that holds each known word of the query once."""
        return sum(self._weight(term) for term in dict.fromkeys(terms(query)))

    def _weight(self, term: str) -> float:
        with_it = len(self._holders.get(term, ()))
        return math.log(1 + (len(self._counts) - with_it + 0.5) / (with_it + 0.5))
