"""`flowstudio run` as scripts and CI use it: events, expectations, exit status, signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowstudio.models import load_script
from flowstudio.run.journal import read_journal
from tests.cli.shell import CORPUS, LONGEST, SCRIPTS, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import ScriptedServer, in_thread, say

KEY = "sk-scripted-0123456789abcdef"
FORK = """flowchart TD
B([BEGIN]) --> a[work on $ARGUMENTS] --> q{good?}
q -->|yes| E([END])
q -->|no| a
q -->|hole| x[a dead end]
"""


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "fork.mmd"
    file.write_text(FORK, encoding="utf-8")
    return file


def script(shell: Shell, **fields: object) -> Path:
    """A script for `FORK` that answers visits of `q` with these branches."""
    visits = fields.pop("takes", ["yes"])
    assert isinstance(visits, list)
    decisions = [
        {"node": "q", "visit": number, "replies": [{"text": f"<choice>{branch}</choice>"}]}
        for number, branch in enumerate(visits, 1)
    ]
    file = shell.cwd / "answers.yaml"
    file.write_text(json.dumps({"decisions": decisions, **fields}), encoding="utf-8")
    return file


# Scripts


@pytest.mark.parametrize("file", sorted(SCRIPTS.glob("*.yaml")), ids=lambda file: file.name[:-12])
def test_each_script_of_the_corpus_gives_what_it_expects(shell: Shell, file: Path) -> None:
    expected = load_script(file)
    assert expected.skill is not None
    done = shell("run", CORPUS / expected.skill, "--script", file, "--json")
    assert (done.status, done.err) == (0, "")
    events = done.events
    path = tuple(event["node"] for event in events if event["type"] == "node_entered")
    assert path == expected.expected_path
    assert events[-1]["reason"] == expected.expected_end
    kinds = [event["type"] for event in events]
    assert kinds.count("step_began") == expected.expected_model_calls
    assert kinds.count("choice_rejected") == expected.expected_retries
    assert {event["by"] for event in events if event["type"] == "choice_made"} == {"script"}


@pytest.mark.parametrize(
    ("fields", "miss"),
    [
        ({"expected_path": ["B", "a", "x"]}, "path differs at move 2: expected x, got q"),
        ({"expected_path": ["B", "a"]}, "path differs at move 2: expected the end, got q"),
        ({"expected_end": "dead_end"}, "end: expected dead_end, got reached_end"),
        ({"expected_model_calls": 3}, "model calls: expected 3, got 2"),
        ({"expected_retries": 1}, "retries: expected 1, got 0"),
    ],
)
def test_a_script_whose_expectation_fails_exits_1_and_says_where(
    shell: Shell, chart: Path, fields: dict[str, object], miss: str
) -> None:
    done = shell.inside("run", chart, "--script", script(shell, **fields))
    assert done.status == 1
    assert f"the script's expectation failed: {miss}" in done.err.replace("the path", "path")


def test_an_expected_end_other_than_end_is_no_failure_of_the_script(
    shell: Shell, chart: Path
) -> None:
    answers = script(shell, takes=["no"] * 9, expected_end="max_moves")
    assert shell.inside("run", chart, "--script", answers, "--max-moves", "5").status == 5
    answers = script(shell, takes=["no"] * 9, expected_end="reached_end")
    assert shell.inside("run", chart, "--script", answers, "--max-moves", "5").status == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decisions: [", "answers.yaml:1"),
        ("- a\n- b", "a script is a mapping"),
        ("decisions:\n- node: q\n  replies: []", "answers.yaml:3"),
        ("answers: {}", "answers"),
    ],
)
def test_a_script_that_is_none_is_a_wrong_call_with_its_place(
    shell: Shell, chart: Path, text: str, said: str
) -> None:
    file = shell.cwd / "answers.yaml"
    file.write_text(text)
    done = shell.inside("run", chart, "--script", file)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert shell.runs == []


def test_a_script_that_is_not_there_is_a_wrong_call(shell: Shell, chart: Path) -> None:
    done = shell.inside("run", chart, "--script", "none.yaml")
    assert (done.status, done.out) == (2, "")
    assert "none.yaml" in done.err


# Events


def test_json_prints_each_event_as_one_object_with_its_keys(shell: Shell, chart: Path) -> None:
    answers = script(shell, takes=["no", "yes"])
    done = shell.inside("run", chart, "--script", answers, "--input", "the bug", "--json")
    events = done.events
    assert all(list(event)[:3] == ["type", "run", "time"] for event in events)
    inside = [event for event in events if "node" in event]
    assert all(list(event)[3:5] == ["node", "visit"] for event in inside)
    assert {event["type"] for event in events if "node" not in event} == {
        "run_started",
        "run_ended",
    }
    assert (events[0]["input"], events[0]["flow"]) == ("the bug", "fork")
    prompts = [event["prompt"] for event in events if event["type"] == "prompt_sent"]
    assert prompts[0] == "work on the bug"


def test_json_and_the_journal_tell_the_same_run(shell: Shell, chart: Path) -> None:
    done = shell.inside("run", chart, "--script", script(shell), "--json")
    journal = read_journal(shell.runs[0] / "journal.jsonl")
    told = [event for event in done.events if event["type"] != "text"]
    kept = [event.to_json() for event in journal.events if event.type != "text"]
    assert told == json.loads(json.dumps(kept))
    assert shell.runs[0].name == told[0]["run"]


def test_a_run_is_printed_for_people(shell: Shell, chart: Path) -> None:
    done = shell.inside("run", chart, "--script", script(shell, takes=["no", "yes"]))
    assert done.status == 0
    assert done.out.startswith("▶ fork  (rehearsal, run ")
    assert "● a  work on $ARGUMENTS  (visit 2)" in done.out
    assert "  → no  (script)" in done.out
    assert done.out.endswith("✓ the run reached END, after 5 moves\n")


def test_a_seed_walks_by_itself_and_the_same_way_each_time(shell: Shell, chart: Path) -> None:
    paths = [
        [event.get("node") for event in shell.inside("run", chart, "--seed", "3", "--json").events]
        for _ in range(2)
    ]
    assert paths[0] == paths[1]
    assert paths[0][1] == "B"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_json_is_whole_in_any_encoding(shell: Shell, encoding: str) -> None:
    answers = SCRIPTS / "docs-translate.script.yaml"
    argv = ("run", CORPUS / "docs-translate", "--script", answers, "--json")
    done = shell(*argv, env={"PYTHONIOENCODING": encoding})
    assert done.status == 0
    events = [json.loads(line) for line in done.raw_out.decode(encoding).splitlines()]
    assert "结构检查" in [event.get("node") for event in events]


def test_a_run_for_people_prints_what_an_ascii_terminal_can_show(shell: Shell) -> None:
    answers = SCRIPTS / "docs-translate.script.yaml"
    argv = ("run", CORPUS / "docs-translate", "--script", answers)
    done = shell(*argv, env={"PYTHONIOENCODING": "ascii"})
    assert done.status == 0
    assert done.raw_out.isascii()


def test_input_that_is_no_valid_text_is_taken_with_its_faults_replaced(
    shell: Shell, chart: Path
) -> None:
    process = shell.start(
        "run",
        str(chart),
        "--seed",
        "1",
        "--json",
        "--max-moves",
        "2",
        "--input",
        b"caf\xe9 \x1b[1m",
    )
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 5, err
    assert b"\x1b" not in out
    assert json.loads(out.splitlines()[0])["input"] == "caf� \x1b[1m"


# Exit status


@pytest.mark.parametrize(
    ("takes", "argv", "status", "reason"),
    [
        (["yes"], [], 0, "reached_end"),
        (["sideways"], [], 4, "model_failed"),
        (["no"] * 9, ["--max-moves", "3"], 5, "max_moves"),
        (["hole"], [], 7, "dead_end"),
    ],
)
def test_each_end_has_its_exit_status(
    shell: Shell, chart: Path, takes: list[str], argv: list[str], status: int, reason: str
) -> None:
    done = shell("run", chart, "--script", script(shell, takes=takes), "--json", *argv)
    assert (done.status, done.events[-1]["reason"]) == (status, reason)


def test_no_valid_choice_after_all_retries_exits_3(shell: Shell, chart: Path) -> None:
    answers = shell.cwd / "answers.yaml"
    replies = [{"text": "who knows", "valid": False}] * 4
    answers.write_text(json.dumps({"decisions": [{"node": "q", "replies": replies}]}))
    done = shell("run", chart, "--script", answers, "--json")
    assert (done.status, done.events[-1]["reason"]) == (3, "choice_failed")


def test_max_moves_of_3_enters_the_third_node_after_begin_and_no_more(
    shell: Shell, chart: Path
) -> None:
    answers = script(shell, takes=["no"] * 9)
    done = shell.inside("run", chart, "--script", answers, "--max-moves", "3", "--json")
    entered = [event["node"] for event in done.events if event["type"] == "node_entered"]
    assert entered == ["B", "a", "q", "a"]
    assert done.events[-1]["moves"] == 3


def test_a_flow_that_cannot_be_run_is_refused_with_its_diagnostics(shell: Shell) -> None:
    done = shell.inside("run", CORPUS / "broken-unlabelled-branch", "--seed", "1")
    assert (done.status, done.out) == (2, "")
    assert "SKILL.md:24:1: error:" in done.err
    assert shell.runs == []


def test_a_standard_skill_is_no_flow_to_run(shell: Shell) -> None:
    done = shell.inside("run", CORPUS / "csv-profile", "--seed", "1")
    assert (done.status, done.out) == (2, "")
    assert "csv-profile holds no flow" in done.err


def test_without_anybody_to_answer_the_call_says_what_to_give(shell: Shell, chart: Path) -> None:
    done = shell.inside("run", chart, "--input", "the bug")
    assert (done.status, done.out) == (2, "")
    assert "--script FILE, --seed N or --model M" in done.err


def test_runs_that_cannot_be_kept_are_refused_with_the_reason(shell: Shell, chart: Path) -> None:
    (shell.cwd / "flowstudio-home").mkdir()
    (shell.cwd / "flowstudio-home" / "data").write_text("in the way")
    done = shell.inside("run", chart, "--seed", "1", "--json")
    assert (done.status, done.out) == (2, "")
    assert "the run cannot be kept on disk" in done.err


def test_a_problem_in_the_configuration_is_said_and_the_run_goes_on(
    shell: Shell, chart: Path
) -> None:
    shell.configure("yolo: perhaps\n")
    done = shell.inside("run", chart, "--script", script(shell))
    assert done.status == 0
    assert "config.yaml: yolo:" in done.err


# Signals and pipes


@pytest.fixture
def stalling(shell: Shell) -> Iterator[ScriptedServer]:
    """A model that begins to answer and then says nothing more, as `--model slow`."""
    with in_thread(lambda: openai_server(say("Let me ", fault="stall"))) as server:
        shell.configure(
            f"""
providers: {{it: {{type: openai, base_url: "{server.base_url}", key_env: IT_KEY}}}}
models: {{slow: {{provider: it, model: slow-1}}}}
"""
        )
        shell.env["IT_KEY"] = KEY
        yield server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_run_in_good_order(
    shell: Shell, chart: Path, stalling: ScriptedServer, number: int
) -> None:
    with running(shell, "run", chart, "--model", "slow", "--input", "the bug", "--json") as process:
        wait_for(process, "text")
        process.send_signal(number)
        out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, err) == (130, b"")
    last = json.loads(out.splitlines()[-1])
    assert (last["type"], last["reason"]) == ("run_ended", "stopped")
    kept = read_journal(shell.runs[0] / "journal.jsonl").events
    assert kept[-1].to_json()["reason"] == "stopped"
    assert [event.to_json()["text"] for event in kept if event.type == "text"] == ["Let me "]


def test_a_killed_run_leaves_a_journal_that_opens_and_holds_each_visit_that_was_left(
    shell: Shell, chart: Path, stalling: ScriptedServer
) -> None:
    with running(shell, "run", chart, "--model", "slow", "--input", "the bug", "--json") as process:
        told = wait_for(process, "text")
        process.kill()
        process.wait(LONGEST)
    journal = read_journal(shell.runs[0] / "journal.jsonl")
    left = [event.node for event in journal.events if event.type == "node_left"]
    assert left == ["B"]
    assert [event.to_json() for event in journal.events] == told[:-1]
    assert json.loads((shell.runs[0] / "run.json").read_text())["id"] == shell.runs[0].name


def wait_for(process: subprocess.Popen[bytes], kind: str) -> list[dict[str, object]]:
    """Read the events that a run prints until one of this kind comes."""
    assert process.stdout is not None
    told: list[dict[str, object]] = []
    while not told or told[-1]["type"] != kind:
        line = process.stdout.readline()
        assert line, "the run ended too early"
        told.append(json.loads(line))
    return told


@contextlib.contextmanager
def running(shell: Shell, *argv: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    process = shell.start(*argv)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("form", [["--json"], []], ids=["json", "people"])
def test_a_reader_that_goes_away_ends_the_run_quietly_and_in_good_order(
    shell: Shell, chart: Path, form: list[str]
) -> None:
    answers = script(shell, takes=["no"] * 400)
    argv = ("run", chart, "--script", answers, *form)
    with running(shell, *argv) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        process.wait(LONGEST)
        assert process.stderr.read() == b""
    assert process.returncode == 141
    last = read_journal(shell.runs[0] / "journal.jsonl").events[-1]
    assert (last.type, last.to_json()["reason"]) == ("run_ended", "stopped")


@pytest.mark.parametrize("argv", [["list"], ["explain"], ["show", "tour", "--json"]], ids=" ".join)
def test_a_command_whose_reader_has_gone_says_nothing(shell: Shell, argv: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    process = shell.start(*argv, stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize(
    "argv", [["list"], ["explain"], ["run", "tour", "--seed", "1"]], ids=" ".join
)
def test_a_full_disk_behind_the_output_is_a_sentence(shell: Shell, argv: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = shell.start(*argv, stdout=full)
        _, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 2
    assert b"No space left on device" in err
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
