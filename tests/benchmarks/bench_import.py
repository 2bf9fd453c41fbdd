"""What `import flowstudio.flow` costs over a bare Python, and what it brings along.

    python tests/benchmarks/bench_import.py [ROUNDS]

A bare Python and one that imports are started in turn; medians of the pairs' differences, in
milliseconds. Target: below 60 with both readers loaded, and no package that is not Python's own.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = {
    "import flowstudio.flow": "import flowstudio.flow",
    "... with both readers": "from flowstudio.flow import read_mermaid, read_d2",
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


def run(code: str) -> float:
    """Milliseconds from the start of a Python to its end."""
    start = time.perf_counter()
    # -S: what a site-packages folder does at start is no cost of ours.
    subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, check=True)
    return 1_000 * (time.perf_counter() - start)


def main(rounds: int) -> None:
    for name, code in CASES.items():
        run(code)  # warms the disk cache and the compiled files
        over = [run(code) - run("pass") for _ in range(rounds)]
        print(f"{name:26} median {statistics.median(over):6.1f} ms over bare Python (target < 60)")
    code = _FOREIGN.format(code=CASES["... and all it offers"])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    print(f"packages beside Python's own: {done.stdout.strip()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
