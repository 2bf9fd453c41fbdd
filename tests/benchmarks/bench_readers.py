"""How long the readers take and how much memory, by the number of edges.

    python tests/benchmarks/bench_readers.py [--other PYTHON]

Medians of several rounds, in milliseconds of the processor, so that other programs on the machine
count little; the peak of what Python allocated meanwhile; and the growth from one size to the next
(1.0 is linear). Chains are what others were measured with; the programs have prompts of some 200
characters, quotes, branches and loops. `--other` names the Python of an environment with kimi-cli:
its parsers then read the same chains in the same run, in turn with ours. Targets: linear, and no
slower at 5,000 edges, though reading far more.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from flowstudio.flow import parse_d2_flowchart, parse_mermaid_flowchart

SIZES = (10, 100, 1_000, 5_000, 10_000)
_PROMPT = (
    "Read what the step before has left in notes/{0}.md and the files it names. Say in one "
    "sentence what is still open, repair it (tests first), run the checks and note what they said"
)
_OTHER = """
import gc, importlib, json, sys, time
parser = None
for line in sys.stdin:
    language, text = json.loads(line)
    module = importlib.import_module(f"kimi_cli.skill.flow.{language}")
    parse = getattr(module, f"parse_{language}_flowchart")
    gc.collect()
    start = time.process_time()
    parse(text)
    print(json.dumps(1_000 * (time.process_time() - start)), flush=True)
"""


def mermaid_chain(edges: int) -> str:
    """BEGIN, so many edges, END; a label for each node."""
    steps = [f"n{at}[Step {at}] --> n{at + 1}[Step {at + 1}]" for at in range(edges - 2)]
    return "\n".join(
        ["flowchart TD", "B([BEGIN]) --> n0", *steps, f"n{max(edges - 2, 0)} --> E([END])"]
    )


def d2_chain(edges: int) -> str:
    """The same in D2."""
    labels = [f"n{at}: Step {at}" for at in range(edges - 1)]
    steps = [f"n{at} -> n{at + 1}" for at in range(edges - 2)]
    return "\n".join([*labels, "BEGIN -> n0", *steps, f"n{max(edges - 2, 0)} -> END"])


def mermaid_program(edges: int) -> str:
    """Prompts of a usual length, one decision in three nodes, loops back to the node before."""
    lines = ["flowchart TD", "    BEGIN([BEGIN]) --> n0"]
    made = at = 0
    while made < edges - 1:
        prompt = _PROMPT.format(at)
        if at % 3 == 2:
            lines.append(f'    n{at}{{"{prompt}. Is it done?"}}')
            lines.append(f"    n{at} -->|yes| n{at + 1}")
            lines.append(f'    n{at} -- "not yet" --> n{at - 1}')
            made += 2
        else:
            lines.append(f'    n{at}["{prompt}.<br/>Stop."] --> n{at + 1}')
            made += 1
        at += 1
    return "\n".join([*lines, f"    n{at}([END])"])


def d2_program(edges: int) -> str:
    """The same in D2, with the prompts in blocks."""
    lines = ["direction: down", "BEGIN -> n0"]
    made = at = 0
    while made < edges - 1:
        prompt = _PROMPT.format(at)
        lines.append(f"n{at}: |md\n  {prompt}.\n\n  Stop.\n|")
        if at % 3 == 2:
            lines.append(f"n{at} -> n{at + 1}: yes")
            lines.append(f"n{at} -> n{at - 1}: not yet")
            made += 2
        else:
            lines.append(f"n{at} -> n{at + 1}")
            made += 1
        at += 1
    return "\n".join([*lines, f"n{at}: END"])


KINDS: dict[str, tuple[str, Callable[[int], str]]] = {
    "Mermaid chain": ("mermaid", mermaid_chain),
    "Mermaid program": ("mermaid", mermaid_program),
    "D2 chain": ("d2", d2_chain),
    "D2 program": ("d2", d2_program),
}
PARSERS = {"mermaid": parse_mermaid_flowchart, "d2": parse_d2_flowchart}


class Other:
    """kimi-cli's parsers in a process of their own."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", _OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def milliseconds(self, language: str, text: str) -> float:
        """How long it takes for one text."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([language, text]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def milliseconds(language: str, text: str) -> float:
    """How long our parser takes, validation included."""
    gc.collect()
    start = time.process_time()
    PARSERS[language](text)
    return 1_000 * (time.process_time() - start)


def peak_of(language: str, text: str) -> float:
    """Megabytes at the most that were allocated while reading."""
    tracemalloc.start()
    PARSERS[language](text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the readers.")
    parser.add_argument("--other", metavar="PYTHON", help="a Python that has kimi-cli")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    other = Other(args.other) if args.other else None
    print(f"{'chart':18}{'edges':>7}{'KB':>7}{'ms':>9}{'growth':>8}{'MB':>7}{'kimi-cli ms':>13}")
    for kind, (language, make) in KINDS.items():
        before: tuple[int, float] | None = None
        for size in SIZES:
            text = make(size)
            edges = len(list(PARSERS[language](text).edges))
            ours: list[float] = []
            theirs: list[float] = []
            for _ in range(args.rounds):
                ours.append(milliseconds(language, text))
                if other and kind.endswith("chain"):
                    theirs.append(other.milliseconds(language, text))
            took = statistics.median(ours)
            growth = (took / before[1]) / (edges / before[0]) if before else None
            before = edges, took
            print(
                f"{kind:18}{edges:7}{len(text) / 1e3:7.0f}{took:9.2f}"
                f"{f'{growth:.2f}' if growth else '':>8}{peak_of(language, text):7.1f}"
                f"{f'{statistics.median(theirs):.2f}' if theirs else '':>13}"
            )


if __name__ == "__main__":
    main()
