"""`flowstudio batch` as a shell user meets it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flowstudio.run.folder import open_run
from tests.cli.shell import CORPUS, LONGEST, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import in_thread, say

FORK = """flowchart TD
B([BEGIN]) --> a[work on $ARGUMENTS] --> q{good?}
q -->|yes| E([END])
q -->|no| a
"""
YES = {"decisions": [{"node": "q", "replies": [{"text": "<choice>yes</choice>"}]}]}


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "fork.mmd"
    file.write_text(FORK, encoding="utf-8")
    (shell.cwd / "yes.yaml").write_text(json.dumps(YES))
    return file


def inputs(shell: Shell, text: str | bytes) -> Path:
    file = shell.cwd / "inputs.jsonl"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


# What a batch gives


def test_a_batch_runs_each_line_as_often_as_asked_and_sums_up(shell: Shell, chart: Path) -> None:
    lines = inputs(shell, '"first"\n\n{"input": "second", "vars": {}}\n')
    done = shell.inside(
        "batch", chart, "--inputs", lines, "--runs", "2", "--parallel", "2",
        "--script", "yes.yaml", "--json", "-o", "summary.json", "--draw", "heat.svg",
    )  # fmt: skip
    assert done.status == 0, done.err
    summary = done.json
    assert summary == json.loads((shell.cwd / "summary.json").read_text())
    assert (summary["planned"], summary["done"]) == (4, 4)
    assert summary["outcomes"] == {"reached_end": 4}
    assert summary["paths"] == [{"count": 4, "path": ["B", "a", "q", "E"]}]
    assert [(run["line"], run["lap"]) for run in summary["runs"]] == [
        (1, 1),
        (1, 2),
        (3, 1),
        (3, 2),
    ]
    kept = {folder.name: open_run(folder).header.input for folder in shell.runs}
    assert sorted(kept.values()) == ["first", "first", "second", "second"]
    assert {run["run"] for run in summary["runs"]} == set(kept)
    ElementTree.parse(shell.cwd / "heat.svg")


def test_for_people_the_drawing_with_its_counts_stands_above_the_figures(
    shell: Shell, chart: Path
) -> None:
    done = shell.inside("batch", chart, "--runs", "3", "--script", "yes.yaml")
    assert done.status == 0, done.err
    for part in ("yes 3×", "no 0×", "fork: 3 runs in", "reached_end 3", "median", "p90", "100%"):
        assert part in done.out
    assert "B → a → q → E" in done.out
    assert "2 of 3 runs done" in done.err


def test_runs_that_do_not_reach_end_are_listed_and_give_status_1(shell: Shell, chart: Path) -> None:
    (shell.cwd / "no.yaml").write_text(json.dumps({"decisions": []}))
    done = shell.inside("batch", chart, "--runs", "2", "--script", "no.yaml")
    assert done.status == 1
    listed = done.out.split("runs that did not reach END")[1]
    for folder in shell.runs:
        assert f"{folder.name}  line 1  model_failed" in listed
    assert done.err.count("✗") == 2


def test_the_summary_is_printed_in_an_ascii_terminal(shell: Shell, chart: Path) -> None:
    argv = ("batch", chart, "--script", "yes.yaml")
    done = shell(*argv, env={"PYTHONIOENCODING": "ascii"})
    assert done.status == 0
    assert done.raw_out.isascii()
    assert b"yes 1x" in done.raw_out


# What is refused before any run starts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"good"\n{"input": }', "inputs.jsonl:2:11: error: this is not JSON"),
        ('{"inptu": "x"}\nnull', "inputs.jsonl:1:2: error: “inptu” is not known"),
        ('{"inptu": "x"}\nnull', "inputs.jsonl:2:1: error: a line is a text"),
        (b'"\xff"', "inputs.jsonl:1:2: error: this is not UTF-8"),
        ("\n\n", "inputs.jsonl holds no inputs"),
        ("x\n" * 100, "… and 80 more"),
    ],
)
def test_bad_lines_are_told_and_nothing_is_run(
    shell: Shell, chart: Path, text: str | bytes, said: str
) -> None:
    done = shell.inside("batch", chart, "--inputs", inputs(shell, text), "--script", "yes.yaml")
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert shell.runs == []


def test_a_line_without_what_the_prompts_need_is_told(shell: Shell, chart: Path) -> None:
    shell.configure("models: {m: {provider: p, model: x}}\nproviders: {p: {type: openai}}\n")
    lines = inputs(shell, '"x"\n{"vars": {}}')
    done = shell.inside("batch", chart, "--inputs", lines, "--model", "m")
    assert done.status == 2
    assert "inputs.jsonl:2:1: error: the prompt of “a” holds $ARGUMENTS" in done.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--runs", "0"], "--runs must be at least 1"),
        (["--parallel", "-1"], "--parallel must be at least 1"),
        (["--max-moves", "0"], "--max-moves must be at least 1"),
        (["--scheduler", "tcp://x:1"], "--scheduler goes with --engine dask"),
        (["--inputs", "gone.jsonl"], "gone.jsonl: No such file"),
        (["--script", "gone.yaml"], "gone.yaml: the script cannot be read"),
        (["--model", "nobody"], "nobody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_refused_with_a_sentence(
    shell: Shell, chart: Path, argv: list[str], said: str
) -> None:
    who = [] if {"--script", "--model"} & set(argv) else ["--script", "yes.yaml"]
    done = shell.inside("batch", chart, "--inputs", inputs(shell, '"x"'), *who, *argv)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert shell.runs == []


def test_a_flow_that_cannot_be_run_is_refused_with_its_diagnostics(shell: Shell) -> None:
    done = shell.inside("batch", CORPUS / "broken-unlabelled-branch", "--seed", "1")
    assert done.status == 2
    assert "SKILL.md:24:1: error:" in done.err


def test_a_summary_that_cannot_be_written_is_a_sentence(shell: Shell, chart: Path) -> None:
    done = shell.inside("batch", chart, "--script", "yes.yaml", "-o", "no/such/folder.json")
    assert done.status == 2
    assert "no/such/folder.json: No such file or directory" in done.err
    assert "1 runs in" in done.out


# The way out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_batch_in_good_order_with_a_summary(
    shell: Shell, chart: Path, number: int
) -> None:
    with in_thread(lambda: openai_server(*[say("Let me ", fault="stall")] * 9)) as server:
        shell.configure(
            f"""
providers: {{it: {{type: openai, base_url: "{server.base_url}", key_env: IT_KEY}}}}
models: {{slow: {{provider: it, model: slow-1}}}}
"""
        )
        lines = inputs(shell, '"one"\n"two"\n"three"\n')
        process = shell.start(
            "batch", str(chart), "--inputs", str(lines), "--model", "slow", "--parallel", "2",
            "--json", env={"IT_KEY": "sk-scripted"}, start_new_session=True,
        )  # fmt: skip
        try:
            patience = time.monotonic() + LONGEST
            while len(server.requests) < 2:
                assert process.poll() is None
                assert time.monotonic() < patience
                time.sleep(0.01)
            # As a terminal does it: to everybody in the foreground.
            os.killpg(process.pid, number)
            out, err = process.communicate(timeout=LONGEST)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    summary = json.loads(out)
    assert (summary["planned"], summary["done"]) == (3, 2)
    assert summary["outcomes"] == {"stopped": 2}
    assert len(shell.runs) == 2


def test_on_a_terminal_a_bar_is_shown(shell: Shell, chart: Path) -> None:
    main, worker = pty.openpty()
    argv = ("batch", str(chart), "--runs", "2", "--script", "yes.yaml")
    process = shell.start(*argv, stderr=worker, env={"TERM": "xterm", "COLUMNS": "100"})
    os.close(worker)
    shown = b""
    # A terminal whose last writer is gone gives an error on Linux, and nothing elsewhere.
    with contextlib.suppress(OSError):
        while piece := os.read(main, 4096):
            shown += piece
    os.close(main)
    process.communicate(timeout=LONGEST)
    assert process.returncode == 0
    assert "2/2" in shown.decode()
    assert "━" in shown.decode()
