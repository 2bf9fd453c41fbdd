"""`flowstudio attach` in a real terminal, on a run that another process makes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowstudio.run.history import find_run
from flowstudio.run.journal import read_journal
from flowstudio.wire import ChoiceMade, RunEnded
from tests.terminal.kit import PATIENCE, run_in_terminal

ROUND = """flowchart TD
B([BEGIN]) --> work[Do the work] --> q{Is it good?}
q -->|yes| E([END])
q -->|no| work
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A process whose run waits before its decision, and the folder of its runs."""
    (tmp_path / "round.mmd").write_text(ROUND)
    (tmp_path / "home").mkdir()
    home = tmp_path / "home" / "flowstudio"
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "flowstudio", "run", "round.mmd"),
            *("--seed", "1", "--wait", "--break", "q"),
        ],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": root, "FLOWSTUDIO_HOME": str(home), "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    runs = home / "data" / "runs"
    try:
        end = time.monotonic() + PATIENCE
        while not any(b'"run_paused"' in one.read_bytes() for one in runs.glob("*/journal.jsonl")):
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process, runs
    finally:
        process.kill()
        process.communicate()


def test_a_run_elsewhere_is_watched_stepped_and_bent_and_goes_on_when_it_is_left(
    held: tuple[subprocess.Popen[bytes], Path], tmp_path: Path
) -> None:
    process, runs = held
    where = {"size": (150, 40), "home": tmp_path / "home", "work": tmp_path}
    with run_in_terminal("attach", "last", **where) as terminal:
        terminal.shows("Is it good?")
        terminal.shows("attached")
        terminal.shows("breakpoint before “q”")
        terminal.press("2")  # no
        terminal.shows("before “work”")
        terminal.press("n")
        terminal.shows("before “q”")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    assert process.poll() is None, "detaching must not end the run"
    with run_in_terminal("attach", "last", **where) as terminal:
        terminal.shows("before “q”")
        terminal.press("1")  # yes
        terminal.shows("reached END")
        process.wait(PATIENCE)
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    assert process.returncode == 0
    events = read_journal(find_run(runs, "last") / "journal.jsonl").events
    chosen = [event.body for event in events if isinstance(event.body, ChoiceMade)]
    assert [(one.branch, one.by, one.forced) for one in chosen] == [
        ("no", "user", True),
        ("yes", "user", True),
    ]
    assert isinstance(events[-1].body, RunEnded)


def test_a_studio_that_is_open_joins_the_run_from_its_history(
    held: tuple[subprocess.Popen[bytes], Path], tmp_path: Path
) -> None:
    process, _ = held
    with run_in_terminal(
        "round.mmd", size=(150, 40), home=tmp_path / "home", work=tmp_path
    ) as terminal:
        terminal.shows("Is it good?")
        terminal.press("H")
        terminal.shows("a joins it")
        terminal.press("a")
        terminal.shows("attached")  # the history names the breakpoint too
        terminal.shows("◆ q  Is it good?")
        terminal.press("1")  # yes
        terminal.shows("reached END")
        process.wait(PATIENCE)
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


def test_the_studio_that_is_detached_by_key_stays_and_the_run_goes_on(
    held: tuple[subprocess.Popen[bytes], Path], tmp_path: Path
) -> None:
    process, _ = held
    with run_in_terminal(
        "attach", "last", size=(150, 40), home=tmp_path / "home", work=tmp_path
    ) as terminal:
        terminal.shows("breakpoint before “q”")
        terminal.shows("◆ q  Is it good?")  # the chat tells of the visit that it came upon
        terminal.press("D")
        terminal.shows("detached: this studio looks away")
        assert "✗" not in terminal.text, "nothing failed"
        assert process.poll() is None
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
