"""What `import flowstudio.flow` costs over a bare Python, and what it brings along.

    python tests/benchmarks/bench_import.py [ROUNDS]

A bare Python and one that imports are started in turn; medians of the pairs' differences, in
milliseconds of the processor and of the clock. Target for the import: below 60, and no package that
is not Python's own. The readers are loaded when they are first used; Python's own part in that
(`re`, `dataclasses`) is shown beside it.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = {
    "import flowstudio.flow": "import flowstudio.flow",
    "... with both readers": "from flowstudio.flow import read_mermaid, read_d2",
    "Python's own part of that": "import re, dataclasses, typing, html, bisect",
    "... and all it offers": (
        "import flowstudio.flow as f\n"
        "from flowstudio.flow import (CODES, Chart, Flow, choice_prompt, compile_flow,"
        " placeholders, parse_choice, read_d2, read_mermaid, replace_label, validate_flow)"
    ),
}
_FOREIGN = """
import sys
before = set(sys.modules)
{code}
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(sorted(new - set(sys.stdlib_module_names) - {{"flowstudio"}}))
"""


def run(code: str) -> tuple[float, float]:
    """Milliseconds of the processor and of the clock, from the start of a Python to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    # -S: what a site-packages folder does at start is no cost of ours.
    subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, check=True)
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1_000 * used, 1_000 * took


def main(rounds: int) -> None:
    print(f"{'milliseconds over bare Python':32}{'processor':>10}{'clock':>8}")
    for name, code in CASES.items():
        run(code)  # warms the disk cache and the compiled files
        pairs = [(run(code), run("pass")) for _ in range(rounds)]
        used, took = (
            statistics.median(with_it[at] - bare[at] for with_it, bare in pairs) for at in (0, 1)
        )
        print(f"{name:32}{used:10.1f}{took:8.1f}")
    code = _FOREIGN.format(code=CASES["... and all it offers"])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    print(f"packages beside Python's own: {done.stdout.strip()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
