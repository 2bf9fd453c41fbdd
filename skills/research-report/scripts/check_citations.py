"""Checks that every citation of a report has its card, and that every card is used.

Usage: python check_citations.py REPORT CARDS

A citation is a number in square brackets, `[3]` or `[3, 7]`, outside of code; a card is a heading
that begins with its number, `## [3] ...`. Ends with 0 if all is well, 1 if a citation has no card,
a number is given to two cards or a card has no link, 2 if a file cannot be read. Cards that nobody
cites are named, and are no fault.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

CITATION = re.compile(r"\[(\d{1,4}(?:\s*[,，、]\s*\d{1,4})*)\](?!\()")
CARD = re.compile(r"^#{1,6}\s+\[(\d{1,4})\]\s*(.*)$")
LINK = re.compile(r"^\s*[-*]\s*(?:链接|link)\s*[:：]\s*\S", re.IGNORECASE)
CODE = re.compile(r"`[^`\n]*`")


@dataclass(slots=True)
class Card:
    """One card: where it stands and whether it says where the evidence is."""

    line: int
    title: str
    has_link: bool = False


def prose(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a Markdown text that are not code."""
    kept: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s{0,3}(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            kept.append((number, CODE.sub("", line)))
    return kept


def citations(report: str) -> dict[int, int]:
    """Each number that is cited, with the line where that happens first."""
    found: dict[int, int] = {}
    for number, line in prose(report):
        for match in CITATION.finditer(line):
            for cited in re.findall(r"\d+", match[1]):
                found.setdefault(int(cited), number)
    return found


def read_cards(text: str) -> tuple[dict[int, Card], list[str]]:
    """The cards by number, and a sentence for each number that is given twice."""
    cards: dict[int, Card] = {}
    doubled: list[str] = []
    current: Card | None = None
    for number, line in prose(text):
        if match := CARD.match(line):
            current = Card(number, match[2].strip())
            key = int(match[1])
            if key in cards:
                doubled.append(
                    f"line {number}: [{key}] is already the card of line {cards[key].line}"
                )
            cards.setdefault(key, current)
        elif current is not None and LINK.match(line):
            current.has_link = True
    return cards, doubled


def faults(report: str, cards_text: str) -> list[str]:
    """A sentence for each fault, in the order of the files."""
    cards, found = read_cards(cards_text)
    found += [
        f"line {card.line}: card [{key}] has no link"
        for key, card in cards.items()
        if not card.has_link
    ]
    cited = citations(report)
    found += [
        f"report, line {line}: [{key}] has no card"
        for key, line in cited.items()
        if key not in cards
    ]
    if not cited:
        found.append("the report cites nothing")
    return found


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        report, cards = (Path(name).read_text(encoding="utf-8-sig") for name in arguments)
    except (OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    found = faults(report, cards)
    cited = citations(report)
    unused = [f"[{key}]" for key in read_cards(cards)[0] if key not in cited]
    print("\n".join(found) if found else f"All {len(cited)} citations have their card.")
    if unused:
        print(f"Not cited: {' '.join(unused)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
