"""Writes d2_random.txt: charts put together by chance from the constructs that people use.

Run by hand, then ask D2 again with ask_d2.mjs. The same seed gives the same charts.
"""

from __future__ import annotations

import random
from pathlib import Path

NAMES = [
    "a",
    "b",
    "B",
    "task",
    "Task",
    "read file",
    '"x y"',
    "'x y'",
    "done?",
    "步骤",
    '"p.q"',
    "n-1",
]
TEXTS = [
    "Do it",
    "yes",
    "no, never",
    '"quoted: text; {x}"',
    "'it''s #1'",
    "a -> b",
    "one\\ntwo",
    "3",
    "|md text |",
    "|md\n  one\n    two\n|",
    "||md\n  x | y\n||",
    "检查是否完成?",
]
LOOKS = ["shape: circle", "style.fill: red", "style: {opacity: 0.5}", 'tooltip: "x"', "width: 100"]
ARROWS = ["->", "->", "->", "->", "-->", "<-", "<->", "--"]


def make_chart(chance: random.Random) -> str:
    """One chart of a few lines."""
    return "\n".join(_statement(chance, 0) for _ in range(chance.randint(2, 7)))


def _statement(chance: random.Random, depth: int) -> str:
    indent = "  " * depth
    kind = chance.randrange(10)
    if kind < 4:
        hops = [_key(chance)]
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            hops += [chance.choice(ARROWS), _key(chance)]
        # A chain has no label here: to whom it belongs is an intended difference to D2.
        line = " ".join(hops) + (_value(chance, depth) if len(hops) == 3 else "")
    elif kind < 7 or depth > 1:
        line = _key(chance) + _value(chance, depth)
    elif kind < 8:
        line = chance.choice(["# remark", "", f"{_key(chance)}; {_key(chance)}"])
    else:
        body = "\n".join(_statement(chance, depth + 1) for _ in range(chance.randint(1, 3)))
        title = chance.choice(["", "", " Phase", ' "Phase: 1"'])
        line = f"{chance.choice(NAMES)}:{title} {{\n{body}\n{indent}}}"
    return indent + line


def _key(chance: random.Random) -> str:
    parts = [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 1, 1, 2]))]
    return ".".join(parts)


def _value(chance: random.Random, depth: int) -> str:
    text = chance.choice(TEXTS).replace("\n", "\n" + "  " * depth)
    match chance.randrange(6):
        case 0 | 1:
            return ""
        case 2 | 3:
            return f": {text}"
        case 4:
            return f": {{label: {text}}}"
        case _:
            return f": {text} {{{chance.choice(LOOKS)}}}"


if __name__ == "__main__":
    chance = random.Random(20261121)
    charts = [f"%% random {n}\n{make_chart(chance)}\n" for n in range(200)]
    Path(__file__).with_name("d2_random.txt").write_text("".join(charts), encoding="utf-8")
