"""`flowstudio runs`, `resume`, `fork`, `replay` and `diff` as people and scripts use them."""

from __future__ import annotations

import json
import os
import resource
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowstudio.run.folder import open_run
from flowstudio.run.history import choose_old, list_runs, summarise
from flowstudio.run.lock import RunLock
from tests.cli.shell import LONGEST, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Reply, fail, in_thread, say

FORK = """flowchart TD
B([BEGIN]) --> a[work on $ARGUMENTS] --> q{good?}
q -->|yes| E([END])
q -->|no| a
"""


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "fork.mmd"
    file.write_text(FORK, encoding="utf-8")
    return file


def script(shell: Shell, *takes: str) -> Path:
    decisions = [
        {"node": "q", "visit": number, "replies": [{"text": f"<choice>{branch}</choice>"}]}
        for number, branch in enumerate(takes, 1)
    ]
    file = shell.cwd / "answers.yaml"
    file.write_text(json.dumps({"decisions": decisions}), encoding="utf-8")
    return file


def bounded(shell: Shell, chart: Path, moves: int = 2) -> str:
    """A run that ended early; gives its id."""
    argv = ("run", chart, "--script", script(shell, "no", "yes"), "--max-moves", str(moves))
    assert shell.inside(*argv).status == 5
    return shell.runs[-1].name


def test_the_list_tells_flow_state_visits_and_where_each_run_stands(
    shell: Shell, chart: Path
) -> None:
    run = bounded(shell, chart)
    done = shell.inside("runs")
    assert done.status == 0
    head, row = done.out.splitlines()
    assert head.split() == ["ID", "WHEN", "FLOW", "STATE", "VISITS", "TOKENS", "AT"]
    assert row.split() == [run, "just", "now", "fork", "max_moves", "2", "0", "q"]
    record = shell.inside("runs", "--json").json[0]
    assert (record["id"], record["state"], record["reason"]) == (run, "ended", "max_moves")
    assert (record["visits"], record["at"], record["can_resume"]) == (2, "q", True)


def test_without_a_run_the_list_is_empty_and_says_how_to_make_one(shell: Shell) -> None:
    done = shell.inside("runs")
    assert (done.status, done.out) == (0, "")
    assert "flowstudio run" in done.err
    assert shell.inside("runs", "--json").json == []


def test_runs_of_one_flow_are_listed_alone(shell: Shell, chart: Path) -> None:
    bounded(shell, chart)
    assert len(shell.inside("runs", "--flow", "fork", "--json").json) == 1
    assert shell.inside("runs", "--flow", "other", "--json").json == []


@pytest.mark.parametrize(
    ("file", "text"),
    [("run.json", b"{"), ("run.json", b"\xff"), ("journal.jsonl", b"\x00" * 500)],
)
def test_a_damaged_run_stays_in_the_list_with_what_is_wrong(
    shell: Shell, chart: Path, file: str, text: bytes
) -> None:
    run = bounded(shell, chart)
    (shell.runs[0] / file).write_bytes(text)
    (shell.runs[0].parent / "no run.txt").write_text("")
    record = shell.inside("runs", "--json").json[0]
    assert (record["id"], record["state"]) == (run, "damaged")
    assert file in record["message"]
    assert shell.inside("runs").status == 0
    (shell.runs[0].parent / "no run.txt").unlink()


def test_a_run_that_somebody_writes_is_running(shell: Shell, chart: Path) -> None:
    bounded(shell, chart)
    run = shell.runs[0]
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    assert summarise(run).standing == "broken off"
    with RunLock(run):
        assert summarise(run).standing == "running"
        done = shell.inside("resume", "last")
        assert (done.status, "writes it" in done.err) == (2, True)
        assert choose_old(list_runs(run.parent), keep=0) == []


# Resume


def test_a_run_goes_on_with_whoever_answered_before(shell: Shell, chart: Path) -> None:
    run = bounded(shell, chart)
    for name in (run, "last", run[-4:], run[:12]):
        done = shell.inside("resume", name, "--json")
        if name == run:
            assert (done.status, done.events[0]["type"]) == (5, "run_reopened")
    assert shell.inside("runs", "--json").json[0]["reason"] == "reached_end"
    assert len(shell.runs) == 1


def test_a_run_that_reached_end_is_refused_with_a_hint(shell: Shell, chart: Path) -> None:
    assert shell.inside("run", chart, "--script", script(shell, "yes")).status == 0
    done = shell.inside("resume", "last")
    assert (done.status, done.out) == (2, "")
    assert "reached END" in done.err
    assert f"flowstudio fork {shell.runs[0].name}@VISIT" in done.err


def test_a_flow_that_changed_needs_a_word(shell: Shell, chart: Path) -> None:
    bounded(shell, chart)
    chart.write_text(FORK.replace("good?", "really good?"))
    done = shell.inside("resume", "last")
    assert (done.status, done.out) == (2, "")
    assert "--flow current" in done.err
    done = shell.inside("resume", "last", "--flow", "current", "--json")
    prompts = [event["prompt"] for event in done.events if event["type"] == "prompt_sent"]
    assert prompts[0].startswith("really good?")


@pytest.mark.parametrize("name", ["none", "", "2", "../.."])
def test_a_name_that_means_no_run_or_several_is_refused(
    shell: Shell, chart: Path, name: str
) -> None:
    bounded(shell, chart)
    bounded(shell, chart)
    done = shell.inside("resume", name)
    assert (done.status, done.out) == (2, "")
    assert "run" in done.err


def test_a_run_ends_with_a_status_of_its_own_when_the_disk_is_full_and_goes_on_later(
    shell: Shell, chart: Path
) -> None:
    """A limit on the size of files stands in for a full disk: the kernel refuses in mid-write."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))

    answers = script(shell, *["no"] * 20, "yes")
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    process = shell.start("run", chart, "--script", answers, env=env, preexec_fn=limit)
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 11, err
    assert "the run cannot be recorded: File too large" in out.decode()
    assert b"Traceback" not in err
    record = shell.inside("runs", "--json").json[0]
    assert record["visits"] > 1
    done = shell.inside("resume", "last", "--json")
    assert done.status == 0
    entered = [event["move"] for event in done.events if event["type"] == "node_entered"]
    assert entered[0] == record["visits"] + 1


@pytest.mark.parametrize(
    "fault",
    [
        say("Half an ans", fault="reset"),
        say("Half an ans", fault="hang-up"),
        say("Half an ans", fault="stall"),
        fail(429, retry_after="0"),
        fail(503),
    ],
    ids=["drops", "hangs up", "stalls", "429", "503"],
)
def test_a_model_that_fails_in_mid_run_is_asked_again_and_later_resumed(
    shell: Shell, chart: Path, fault: Reply
) -> None:
    yes = say("<choice>yes</choice>")
    # The first fault is retried within the run; the next ones end it.
    replies = [say("One."), fault, say("<choice>no</choice>"), fault, fault, say("Two."), yes]
    with in_thread(lambda: openai_server(*replies)) as server:
        shell.configure(
            f"""
loop: {{max_retries_per_step: 1, request_timeout: 0.5}}
providers: {{it: {{type: openai, base_url: "{server.base_url}", key_env: IT_KEY}}}}
models: {{flaky: {{provider: it, model: m}}}}
"""
        )
        shell.env["IT_KEY"] = "sk-scripted-0123456789abcdef"
        assert shell.inside("run", chart, "--model", "flaky", "--input", "it").status == 4
        assert len(server.requests) == 5
        done = shell.inside("resume", "last", "--json")
        assert done.status == 0
        assert len(server.requests) == 7
        entered = [event["node"] for event in done.events if event["type"] == "node_entered"]
        assert entered == ["a", "q", "E"]


# Fork, replay, diff


def test_a_fork_takes_another_branch_and_leaves_its_parent_alone(shell: Shell, chart: Path) -> None:
    shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    parent = shell.runs[0]
    before = {file: file.read_bytes() for file in parent.rglob("*") if file.is_file()}
    done = shell.inside("fork", "last@q:1", "--choose", "yes", "--json")
    entered = [event["node"] for event in done.events if event["type"] == "node_entered"]
    assert (done.status, entered) == (0, ["q", "E"])
    assert {file: file.read_bytes() for file in parent.rglob("*") if file.is_file()} == before
    record = next(one for one in shell.inside("runs", "--json").json if one["parent"])
    assert (record["parent"], record["parent_move"]) == (parent.name, 3)


def test_a_fork_can_be_made_now_and_run_later(shell: Shell, chart: Path) -> None:
    shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    prompt = shell.cwd / "better.txt"
    prompt.write_text("work better")
    done = shell.inside("fork", "last@4", "--prompt", prompt, "--no-run")
    name = done.out.strip()
    states = {one["id"]: one["state"] for one in shell.inside("runs", "--json").json}
    assert states[name] == "forked"
    done = shell.inside("resume", name, "--json")
    prompts = [event["prompt"] for event in done.events if event["type"] == "prompt_sent"]
    assert (done.status, prompts[0]) == (0, "work better")


def test_a_fork_remembers_who_is_to_answer_in_it(shell: Shell, chart: Path) -> None:
    shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    made = shell.inside("fork", "last@q:1", "--seed", "5", "--no-run").out.strip()
    header = open_run(shell.runs[0].parent / made).header
    assert (header.seed, header.script) == (5, None)
    assert shell.inside("resume", made).status == 0


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("last",), "no visit is named"),
        (("last@99",), "has no move 99"),
        (("last@q:7",), "no visit 7"),
        (("last@3", "--choose", "maybe"), "it has: yes, no"),
        (("last@3", "--prompt", "none.txt"), "none.txt"),
    ],
)
def test_a_fork_that_makes_no_sense_is_refused_and_leaves_nothing(
    shell: Shell, chart: Path, argv: tuple[str, ...], said: str
) -> None:
    shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    done = shell.inside("fork", *argv)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert len(shell.runs) == 1


def test_a_replay_prints_what_the_run_printed(shell: Shell, chart: Path) -> None:
    lived = shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    done = shell.inside("replay", "last", "--strict")
    assert (done.status, done.out) == (0, lived.out)


def test_a_strict_replay_of_an_edited_flow_shows_the_difference(shell: Shell, chart: Path) -> None:
    shell.inside("run", chart, "--script", script(shell, "yes"))
    chart.write_text(FORK.replace("good?", "perfect?"))
    done = shell.inside("replay", "last", "--strict", "--flow", "current")
    assert done.status == 1
    assert "-good?" in done.err
    assert "+perfect?" in done.err


def test_two_runs_are_compared_for_people_and_programs(shell: Shell, chart: Path) -> None:
    shell.inside("run", chart, "--script", script(shell, "yes"))
    one = shell.runs[0].name
    shell.inside("run", chart, "--script", script(shell, "no", "yes"))
    other = next(run.name for run in shell.runs if run.name != one)
    done = shell.inside("diff", one, other)
    assert done.status == 1
    assert "the same in the first 2 visits" in done.out
    assert "path, move 4:\n- E\n+ a" in done.out
    record = shell.inside("diff", one, other, "--json").json
    assert [found["aspect"] for found in record["differences"]] == ["answer", "path"]
    assert shell.inside("diff", one, one).status == 0


# Prune


def test_nothing_is_deleted_without_a_word(shell: Shell, chart: Path) -> None:
    bounded(shell, chart)
    assert shell.inside("runs", "prune").status == 2
    assert shell("runs", "prune", "--keep", "0").status == 2
    assert shell.inside("runs", "prune", "--keep", "0", "--dry-run").status == 0
    assert len(shell.runs) == 1


def test_old_runs_are_deleted_and_the_latest_kept(shell: Shell, chart: Path) -> None:
    names = [bounded(shell, chart) for _ in range(3)]
    for days, run in enumerate(sorted(shell.runs)):
        moment = (datetime.now(UTC) - timedelta(days=30 * days)).timestamp()
        os.utime(run / "journal.jsonl", (moment, moment))
    assert len(set(names)) >= 1
    assert shell.inside("runs", "prune", "--older-than", "40d", "--yes").status == 0
    assert len(shell.runs) == 2
    assert shell.inside("runs", "prune", "--keep", "1", "--yes").status == 0
    assert len(shell.runs) == 1
    assert shell.inside("runs", "prune", "--state", "reached_end", "--yes").status == 0
    assert len(shell.runs) == 1
    assert shell.inside("runs", "prune", "--state", "max_moves", "--yes").status == 0
    assert shell.runs == []


@pytest.mark.parametrize("age", ["", "30", "d", "-1d", "99999999999d", "1y"])
def test_an_age_that_is_none_is_a_wrong_call(shell: Shell, age: str) -> None:
    assert shell.inside("runs", "prune", "--older-than", age, "--yes").status == 2
