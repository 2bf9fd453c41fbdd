"""Fuzzes a reader with a counted number of inputs, by hand.

    python tests/flow/fuzz.py mermaid|d2 [--count N] [--seed N]

Half of the inputs are put together from the pieces of the language's any-text test, half are real
files of the corpus with some places cut, doubled, swapped or overwritten with such pieces. Each is
held to the same rules as in that test. Hypothesis finds small faults well and costs a hundred times
more an input; this walks far. Prints how many were read; a fault ends it with the text, exit 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import test_d2_any_text as d2
import test_mermaid_any_text as mermaid

TESTS = Path(__file__).parents[1]
LONGEST = 4_000
"""Characters of the longest real chart taken: small inputs find more in the same time."""

READERS: dict[str, tuple[Callable[[str], None], list[str]]] = {
    "mermaid": (mermaid.check_any, [*mermaid.PIECES, " ", " ", "\n", "\n", "\r\n", "\t", "\v"]),
    "d2": (d2.check_any, [*d2.SIGNS, *d2.SPACE]),
}


def inputs(seeds: list[str], pieces: list[str], chance: random.Random) -> Iterator[str]:
    """Texts without end; `seeds` are real ones."""
    while True:
        yield "".join(chance.choices(pieces, k=chance.randrange(60)))
        text = chance.choice(seeds)
        for _ in range(chance.randint(1, 4)):
            text = _change(text, pieces, chance)
        yield text


def _change(text: str, pieces: list[str], chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.randrange(12))
    match chance.randrange(4):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + chance.choice(pieces) + text[end:]
        case 2:
            return text[:end] + text[start:end] * chance.randint(1, 3) + text[end:]
        case _:
            return text[end:] + text[:start]


def _real_texts(language: str) -> list[str]:
    """The charts of the differential test and of the corpus."""
    names, above = {
        "mermaid": (("mermaid_charts.txt",), "#### "),
        "d2": (("d2_charts.txt", "d2_random.txt"), "%% "),
    }[language]
    found = [
        part.partition("\n")[2]
        for name in names
        for part in ("\n" + (TESTS / "differential" / name).read_text()).split("\n" + above)[1:]
    ]
    fence = f"```{language}\n"
    for path in sorted((TESTS / "corpus").rglob("*.md")):
        found += [
            part.partition("\n```")[0]
            for part in path.read_bytes().decode("utf-8", "replace").split(fence)[1:]
        ]
    return [text for text in found if len(text) <= LONGEST]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    check, pieces = READERS[args.reader]
    seeds = _real_texts(args.reader)
    start = time.process_time()
    slowest = 0.0
    for number, text in enumerate(inputs(seeds, pieces, random.Random(args.seed)), 1):
        before = time.process_time()
        try:
            check(text)
        except Exception as error:  # whatever it is, the text that caused it is what is wanted
            print(f"input {number} of seed {args.seed}: {error!r}\n{text!r}")
            return 1
        slowest = max(slowest, time.process_time() - before)
        if number == args.count:
            break
    seconds = time.process_time() - start
    print(
        f"{args.reader}: {args.count} inputs (seed {args.seed}, {len(seeds)} real charts), no "
        f"fault, slowest {1_000 * slowest:.0f} ms, {seconds:.0f} s of the processor"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
