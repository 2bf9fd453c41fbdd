"""`flowstudio run`: what it is given (input, variables, plain prompts) and where it is held."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.cli.test_cli_models import serving
from tests.servers.scripted import say

CHART = """flowchart TD
B([BEGIN]) --> a["Compare {{base}} with
{{head}} and mind {{base}}."] --> q{"Good, $ARGUMENTS?"}
q -->|yes| E([END])
q -->|no| a
"""


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "compare.mmd"
    file.write_text(CHART, encoding="utf-8")
    return file


def prompts(events: list[dict[str, str]]) -> list[str]:
    return [event["prompt"] for event in events if event["type"] == "prompt_sent"]


# Variables


def test_variables_and_input_fill_the_prompts_and_stand_in_the_header(
    shell: Shell, chart: Path
) -> None:
    argv = ("--var", "base=main", "--var", "head=a=b {{base}}", "--input", "Ada", "--json")
    done = shell.inside("run", chart, "--seed", "1", *argv)
    assert done.status == 0
    first, second, *_ = prompts(done.events)
    assert first == "Compare main with\na=b {{base}} and mind main."
    assert second.startswith("Good, Ada?")
    header = json.loads((shell.runs[0] / "run.json").read_text(encoding="utf-8"))
    assert header["variables"] == {"base": "main", "head": "a=b {{base}}"}
    assert done.events[0]["variables"] == header["variables"]


def test_missing_values_are_named_with_their_places_before_any_call(
    shell: Shell, chart: Path
) -> None:
    with serving(shell, say("never")) as server:
        done = shell.inside("run", chart, "--model", "mine", "--var", "base=main")
        assert server.requests == []
    assert (done.status, done.out) == (2, "")
    assert f"{chart}:3:1: {{{{head}}}} in “a”; give --var head=" in done.err
    assert f"{chart}:3:44: $ARGUMENTS in “q”; give --input" in done.err
    assert "{{base}}" not in done.err
    assert shell.runs == []


def test_a_rehearsal_needs_variables_but_no_input(shell: Shell, chart: Path) -> None:
    refused = shell.inside("run", chart, "--seed", "1", "--var", "base=main")
    assert refused.status == 2
    assert "{{head}}" in refused.err
    assert "$ARGUMENTS" not in refused.err
    argv = ("--var", "base=main", "--var", "head=x")
    assert shell.inside("run", chart, "--seed", "1", *argv).status == 0


def test_an_empty_input_is_an_input(shell: Shell) -> None:
    file = shell.cwd / "ask.mmd"
    file.write_text("flowchart TD\nB([BEGIN]) --> a[Do $ARGUMENTS] --> E([END])", encoding="utf-8")
    with serving(shell, say("Done.")):
        assert shell.inside("run", file, "--model", "mine", "--input", "").status == 0


def test_a_variable_that_no_prompt_takes_is_said_with_a_near_one(shell: Shell, chart: Path) -> None:
    argv = ("--var", "base=1", "--var", "head=2", "--var", "haed=3")
    done = shell.inside("run", chart, "--seed", "1", *argv)
    assert done.status == 0
    assert "--var haed: no prompt holds {{haed}}; did you mean head?" in done.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--var", "base"], "--var base: write --var NAME=VALUE"),
        (["--var", "=x"], "write --var NAME=VALUE"),
        (["--var", "9=x"], "write --var NAME=VALUE"),
        (["--var", "base=1", "--var", "base=2"], "--var base: given twice"),
        (["--max-moves", "0"], "--max-moves must be at least 1"),
        (["--max-idle-visits", "-1"], "--max-idle-visits must be at least 0"),
        (["--max-ralph-iterations", "3"], "give it with --prompt TEXT"),
        (["--prompt", "x"], "give a flow to run, or --prompt TEXT"),
        (["--break", "x"], "--break 'x': column 1: the flow has no node “x”; it has B, a, q, E"),
        (["--break", "a visits > 2"], "column 3: “visits” is nothing that can be compared"),
    ],
)
def test_a_wrong_call_is_said(shell: Shell, chart: Path, argv: list[str], said: str) -> None:
    values = [] if "--var" in argv else ["--var", "base=1", "--var", "head=2"]
    done = shell.inside("run", chart, "--seed", "1", *values, *argv)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_dash_reads_the_input_from_standard_input(shell: Shell, chart: Path) -> None:
    import subprocess
    import sys

    argv = ["run", str(chart), "--seed", "1", "--var", "base=1", "--var", "head=2"]
    done = subprocess.run(
        [sys.executable, "-m", "flowstudio", *argv, "--input", "-", "--json"],
        input="zwei\nZeilen ✓\n".encode(),
        capture_output=True,
        cwd=shell.cwd,
        env=shell.env,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert events[0]["input"] == "zwei\nZeilen ✓"


# Plain prompts and the Ralph loop


def test_a_plain_prompt_is_a_run_of_one_turn(shell: Shell) -> None:
    with serving(shell, say("A poem.")) as server:
        done = shell.inside(
            "run", "--prompt", "Write {{x}} $ARGUMENTS", "--model", "mine", "--json"
        )
        assert len(server.requests) == 1
    assert done.status == 0
    assert prompts(done.events) == ["Write {{x}} $ARGUMENTS"]
    assert (shell.runs[0] / "journal.jsonl").is_file()


def test_a_ralph_loop_goes_on_until_the_model_says_stop(shell: Shell) -> None:
    replies = (say("Begun."), say("More. <choice>CONTINUE</choice>"), say("<choice>STOP</choice>"))
    with serving(shell, *replies):
        argv = ("--prompt", "Write a poem.", "--max-ralph-iterations", "5")
        done = shell.inside("run", *argv, "--model", "mine", "--json")
    assert done.status == 0
    path = [event["node"] for event in done.events if event["type"] == "node_entered"]
    assert path == ["BEGIN", "R1", "R2", "R2", "END"]


def test_a_ralph_loop_that_is_used_up_has_an_end_and_a_status_of_its_own(shell: Shell) -> None:
    replies = [say("Begun."), *(say(f"Part {n} <choice>CONTINUE</choice>") for n in range(2))]
    with serving(shell, *replies) as server:
        argv = ("--prompt", "Write.", "--max-ralph-iterations", "2", "--model", "mine")
        done = shell.inside("run", *argv)
        assert len(server.requests) == 3
    assert (done.status, done.err) == (8, "")
    assert "✗ the loop was not told to stop in 2 rounds, as many as it may make" in done.out


def test_the_configuration_may_make_every_plain_prompt_a_loop(shell: Shell) -> None:
    with serving(shell, say("x"), say("<choice>STOP</choice>"), max_ralph_iterations=-1) as server:
        done = shell.inside("run", "--prompt", "Go.", "--model", "mine")
        assert (done.status, len(server.requests)) == (0, 2)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "give a flow to run, or --prompt TEXT"),
        (["--prompt", " "], "the prompt is empty"),
        (["--prompt", "x", "--input", "y"], "--input and --var go with a flow"),
        (["--prompt", "x", "--max-moves", "3"], "bounded by --max-ralph-iterations"),
        (["--prompt", "x", "--max-ralph-iterations", "-2"], "or -1 for no bound"),
    ],
)
def test_a_wrong_call_for_a_prompt_is_said(shell: Shell, argv: list[str], said: str) -> None:
    done = shell.inside("run", *argv, "--seed", "1")
    assert (done.status, done.out) == (2, "")
    assert said in done.err


# Where a run is held


def test_a_run_ends_at_a_breakpoint_and_says_why(shell: Shell, chart: Path) -> None:
    values = ("--var", "base=1", "--var", "head=2")
    argv = ("--seed", "1", "--break", "q visit >= 1", "--json")
    done = shell.inside("run", chart, *values, *argv)
    assert done.status == 10
    end = done.events[-1]
    assert (end["reason"], end["message"]) == (
        "breakpoint",
        "breakpoint before “q”: this is visit 1",
    )
    assert len(prompts(done.events)) == 1


def test_a_breakpoint_after_a_node_may_look_at_its_answer(shell: Shell, chart: Path) -> None:
    values = ("--var", "base=1", "--var", "head=2", "--input", "x")
    with serving(shell, say("Two errors found."), say("never")) as server:
        argv = ("--break", "a answer ~ (?i)ERRORS?", "--model", "mine")
        done = shell.inside("run", chart, *values, *argv)
        assert len(server.requests) == 1
    assert done.status == 10
    assert "✗ breakpoint after “a”: the answer holds “errors”" in done.out


def test_a_loop_that_gets_nowhere_ends_with_a_status_of_its_own(shell: Shell) -> None:
    file = shell.cwd / "loop.mmd"
    file.write_text(
        "flowchart TD\nB([BEGIN]) --> q{ok?}\nq -->|no| q\nq -->|yes| E([END])", encoding="utf-8"
    )
    replies = [say("Still the same three faults. <choice>no</choice>")] * 6
    with serving(shell, *replies) as server:
        done = shell.inside("run", file, "--model", "mine", "--max-idle-visits", "3")
        assert len(server.requests) == 3
    assert done.status == 9
    assert "“q” gave nearly the same answer 3 times in a row" in done.out
    with serving(shell, *replies) as server:
        argv = ("--model", "mine", "--max-idle-visits", "0", "--max-moves", "5")
        assert shell.inside("run", file, *argv).status == 5
        assert len(server.requests) == 4
