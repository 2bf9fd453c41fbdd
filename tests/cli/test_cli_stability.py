"""`flowstudio stability` as a shell user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell

FORK = """flowchart TD
B([BEGIN]) --> a[work on $ARGUMENTS] --> q{"good for {{who}}?"}
q -->|yes| E([END])
q -->|no| a
"""
VISITS = ["<choice>yes</choice>", "<choice>no</choice>", "hm", "<choice>yes</choice>"]


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "fork.mmd"
    file.write_text(FORK, encoding="utf-8")
    decisions = [
        {"node": "q", "visit": number, "replies": [{"text": text}]}
        for number, text in enumerate(VISITS, 1)
    ]
    (shell.cwd / "answers.yaml").write_text(json.dumps({"decisions": decisions}))
    return file


def ask(shell: Shell, chart: Path, *argv: str, who: str = "answers.yaml") -> list[str | Path]:
    return ["stability", chart, "--node", "q", "--var", "who=us", "--script", who, *argv]


def test_the_split_is_shown_as_bars_with_the_answers_that_name_no_branch(
    shell: Shell, chart: Path
) -> None:
    done = shell.inside(*ask(shell, chart, "--times", "4"))
    assert done.status == 1
    lines = [line.split() for line in done.out.splitlines()]
    assert ["yes", "████████████", "2", "50%"] in lines
    assert ["no", "██████", "1", "25%"] in lines
    assert "agreement 50%" in done.out
    assert "no branch: no <choice> tag; hm" in done.out


def test_where_each_answer_names_a_branch_the_status_is_0(shell: Shell, chart: Path) -> None:
    done = shell.inside(*ask(shell, chart, "--times", "2", "--json"))
    assert done.status == 0, done.err
    assert done.json["branches"] == {"yes": 1, "no": 1}
    assert done.json["agreement"] == 0.5


def test_a_decision_is_asked_from_where_a_run_stood(shell: Shell, chart: Path) -> None:
    ran = shell.inside(
        "run", chart, "--script", "answers.yaml", "--input", "it", "--var", "who=us", "--json"
    )
    assert ran.status == 0, ran.err
    before = {file: file.read_bytes() for file in shell.runs[0].rglob("*") if file.is_file()}
    for visit in ("last", "last@3", "last@q:1", f"{shell.runs[0].name}@q"):
        done = shell.inside(*ask(shell, chart, "--times", "1", "--run", visit, "--json"))
        assert done.status == 0, done.err
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--times", "0"], "--times must be at least 1"),
        (["--parallel", "0"], "--parallel must be at least 1"),
        (["--node", "a"], "“a” has nothing to choose; its decisions are: q"),
        (["--run", "20200101"], "there is no run"),
        (["--var", "who"], "--var who"),
        (["--script", "gone.yaml"], "gone.yaml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_refused_with_a_sentence(
    shell: Shell, chart: Path, argv: list[str], said: str
) -> None:
    done = shell.inside(*ask(shell, chart, *argv))
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_value_that_the_question_needs_is_asked_for(shell: Shell, chart: Path) -> None:
    done = shell.inside("stability", chart, "--node", "q", "--seed", "1")
    assert done.status == 2
    assert 'fork.mmd:2:54: {{who}} in “q”; give --var who="…"' in done.err
