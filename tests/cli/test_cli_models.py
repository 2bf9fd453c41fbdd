"""`flowstudio run --model`: a whole run over HTTP, and all that can be wrong with a server."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Done, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import EMPTY, Call, Reply, ScriptedServer, fail, in_thread, say, use

KEY = "sk-scripted-0123456789abcdef"
CHART = """flowchart TD
B([BEGIN]) --> a[Look at $ARGUMENTS.] --> q{Good?}
q -->|yes| E([END])
q -->|no| a
"""


@pytest.fixture
def chart(shell: Shell) -> Path:
    file = shell.cwd / "look.mmd"
    file.write_text(CHART, encoding="utf-8")
    return file


def configure(shell: Shell, base_url: str, **loop: Any) -> None:
    """One model, `mine`, behind `base_url`; a failing call is made again once at most."""
    bounds = ", ".join(
        f"{name}: {value}" for name, value in {"max_retries_per_step": 0, **loop}.items()
    )
    shell.configure(
        f"""
providers:
  it: {{type: openai, base_url: "{base_url}", key_env: IT_KEY}}
models:
  mine: {{provider: it, model: big-1}}
loop: {{{bounds}}}
"""
    )
    shell.env["IT_KEY"] = KEY


@contextlib.contextmanager
def serving(shell: Shell, *replies: Reply, **loop: Any) -> Iterator[ScriptedServer]:
    with in_thread(lambda: openai_server(*replies)) as server:
        configure(shell, server.base_url, **loop)
        yield server


def holds_key(shell: Shell, done: Done) -> bool:
    """Whether the key stands anywhere in what was printed or kept, whole or in great part."""
    kept = [file.read_bytes() for run in shell.runs for file in run.rglob("*") if file.is_file()]
    assert kept, "nothing was kept"
    return any(KEY.encode()[:12] in text for text in (done.raw_out, done.raw_err, *kept))


def test_a_flow_is_run_from_begin_to_end_over_http(shell: Shell, chart: Path) -> None:
    replies = (
        say("I looked", " at it."),
        say("Not yet. <choice>no</choice>"),
        say("Again."),
        say("<choice>perhaps</choice>"),
        say("<choice>yes</choice>"),
    )
    with serving(shell, *replies) as server:
        done = shell("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert (done.status, done.err) == (0, "")
    events = done.events
    path = [event["node"] for event in events if event["type"] == "node_entered"]
    assert path == ["B", "a", "q", "a", "q", "E"]
    assert events[0]["model"] == "mine"
    assert [event["by"] for event in events if event["type"] == "choice_made"] == ["model"] * 2
    assert [event["got"] for event in events if event["type"] == "choice_rejected"] == ["perhaps"]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert {request.body["model"] for request in server.requests} == {"big-1"}
    assert "Look at the bug." in server.requests[0].last_text
    assert "not one of the branches" in server.requests[-1].last_text
    roles = [message["role"] for message in server.requests[-1].messages]
    assert roles.count("assistant") == 4
    assert not holds_key(shell, done)


def test_a_tool_that_only_reads_runs_without_leave(shell: Shell, chart: Path) -> None:
    (shell.cwd / "notes.txt").write_text("the sky is blue\n")
    replies = (
        use(Call("ReadFile", {"path": "notes.txt"})),
        say("Blue."),
        say("<choice>yes</choice>"),
    )
    with serving(shell, *replies) as server:
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 0
    assert "the sky is blue" in server.requests[1].last_text
    returned = [event for event in done.events if event["type"] == "tool_returned"]
    assert [event["ok"] for event in returned] == [True]


WRITE = use(Call("WriteFile", {"path": "x.txt", "content": "written\n"}))


def test_a_tool_that_writes_is_refused_where_nobody_can_allow_it(shell: Shell, chart: Path) -> None:
    with serving(shell, WRITE):
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug")
    assert done.status == 6
    assert "refused: nobody is here to allow it; --yolo allows everything" in done.out
    assert not (shell.cwd / "x.txt").exists()


def test_with_yolo_a_tool_may_write(shell: Shell, chart: Path) -> None:
    with serving(shell, WRITE, say("Done."), say("<choice>yes</choice>")):
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", "--yolo")
    assert done.status == 0
    assert (shell.cwd / "x.txt").read_text() == "written\n"


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (
            fail(401, message=f"Incorrect API key provided: {KEY}"),
            "The model's server refused the key (401).",
        ),
        (fail(403, message="no access"), "The key may not use this model (403)."),
        (fail(404, message="no such model"), "does not know this model or address (404)."),
        (fail(429, message="slow down", Retry_After="120"), "Wait 2 min and try again."),
        (fail(429, code="insufficient_quota"), "The account has no credit left."),
        (fail(500, message="oops"), "The model's server failed (500)."),
        (fail(503, message=f"bad header Bearer {KEY}"), "The model's server failed (503)."),
        (EMPTY, "The model gave an empty answer."),
        (say("Half an ans", fault="reset"), "cannot be reached, or hung up in mid-answer."),
        (say("Half an ans", fault="hang-up"), "cannot be reached, or hung up in mid-answer."),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_a_server_that_fails_ends_the_run_with_status_4_and_a_sentence(
    shell: Shell, chart: Path, reply: Reply, sentence: str
) -> None:
    with serving(shell, reply):
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 4
    last = done.events[-1]
    assert (last["type"], last["reason"]) == ("run_ended", "model_failed")
    assert sentence in last["message"]
    assert not holds_key(shell, done)


def test_the_sentence_is_printed_for_people_too(shell: Shell, chart: Path) -> None:
    with serving(shell, fail(401, message=f"Incorrect API key provided: {KEY}")):
        done = shell("run", chart, "--model", "mine", "--input", "the bug")
    assert done.status == 4
    assert re.search(r"✗ The model's server refused the key \(401\)\..*, after 1 moves", done.out)
    assert not holds_key(shell, done)


def test_a_silent_server_is_given_up_after_the_configured_time(shell: Shell, chart: Path) -> None:
    with serving(shell, say("Let me ", fault="stall"), request_timeout=0.5):
        done = shell("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 4
    assert "did not answer in time" in done.events[-1]["message"]
    assert "loop.request_timeout" in done.events[-1]["message"]


def test_a_server_that_is_not_there_is_said(shell: Shell, chart: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        configure(shell, f"http://127.0.0.1:{port}/v1")
        done = shell("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 4
    assert "The model's server cannot be reached" in done.events[-1]["message"]
    assert not holds_key(shell, done)


def test_a_rate_limit_is_waited_out_as_long_as_the_server_asks_and_said(
    shell: Shell, chart: Path
) -> None:
    replies = (fail(429, Retry_After="0.1"), say("Done."), say("<choice>yes</choice>"))
    with serving(shell, *replies, max_retries_per_step=1):
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 0
    retried = [event for event in done.events if event["type"] == "retried"]
    assert [(one["attempt"], one["attempts"]) for one in retried] == [(1, 2)]
    assert retried[0]["wait"] >= 0.1
    assert "(429)" in retried[0]["reason"]


def test_a_wait_that_is_too_long_is_not_waited_out(shell: Shell, chart: Path) -> None:
    with serving(shell, fail(429, Retry_After="7200"), max_retries_per_step=3):
        done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", "--json")
    assert done.status == 4
    assert "Wait 2.0 h and try again." in done.events[-1]["message"]


def test_a_missing_key_is_a_wrong_call_that_names_the_variable(shell: Shell, chart: Path) -> None:
    configure(shell, "http://127.0.0.1:1/v1")
    del shell.env["IT_KEY"]
    done = shell.inside("run", chart, "--model", "mine", "--input", "the bug")
    assert (done.status, done.out) == (2, "")
    assert "IT_KEY" in done.err
    assert shell.runs == []


def test_an_unknown_model_is_answered_with_a_near_one(shell: Shell, chart: Path) -> None:
    configure(shell, "http://127.0.0.1:1/v1")
    done = shell.inside("run", chart, "--model", "mime", "--input", "the bug")
    assert (done.status, done.out) == (2, "")
    assert "There is no model “mime”. Did you mean mine?" in done.err


def test_the_configured_model_answers_where_none_is_named(shell: Shell, chart: Path) -> None:
    with serving(shell, say("Done."), say("<choice>yes</choice>")):
        config = shell.cwd / "flowstudio-home" / "config" / "config.yaml"
        config.write_text("model: mine\n" + config.read_text())
        assert shell.inside("run", chart, "--input", "the bug").status == 0


def test_what_a_model_says_never_reaches_the_terminal_as_an_escape(
    shell: Shell, chart: Path
) -> None:
    evil = "\x1b]0;owned\x07 \x1b[2J [bold]x[/bold] \x9b31m \u202e"
    for form in ([], ["--json"]):
        with serving(shell, say(evil), say("<choice>yes</choice>")):
            done = shell.inside("run", chart, "--model", "mine", "--input", "the bug", *form)
        assert done.status == 0
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out)
        assert "[bold]x[/bold]" in done.out
