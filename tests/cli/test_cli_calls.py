"""Which call means what: the parser that a command needs, and the calls that need none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flowstudio.cli.parser import parse
from flowstudio.cli.studio import options_of, plain_options


@pytest.mark.parametrize("argv", [[], ["."], ["skills/tour"], ["表.mmd"]])
def test_a_call_without_options_opens_the_studio_as_the_parser_would(argv: list[str]) -> None:
    path = Path(argv[0]) if argv else None
    assert plain_options(path) == options_of(parse(argv))


def test_options_of_the_call_reach_the_studio() -> None:
    options = options_of(parse(["x", "--seed", "3", "--yolo", "--theme", "studio-light"]))
    assert (options.path, options.seed, options.yolo) == (Path("x"), 3, True)
    assert options.theme == "studio-light"


def test_the_studios_plain_call_waits_for_no_parser_and_no_flow() -> None:
    code = (
        "import sys\n"
        "from flowstudio.cli import parser\n"
        "parser.find_call(['skills/tour'])\n"
        "print(*sorted({'argparse', 'json', 'flowstudio.cli.output', 'flowstudio.flow'}"
        " & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""
