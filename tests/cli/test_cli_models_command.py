"""`flowstudio models`: lists what is usable, says what is missing, and checks one model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import fail, in_thread, say

CONFIG = """
providers: {{here: {{base_url: "{url}"}}}}
models:
  dear:
    provider: here
    model: m-1
    context_size: 32000
    choices: json
    prices: {{input: 2, output: 10}}
  file: {{provider: local, path: nowhere.gguf}}
"""


@pytest.fixture
def alone(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_each_model_is_listed_with_what_it_is_or_what_is_missing(alone: Shell) -> None:
    with in_thread(openai_server) as server:
        alone.configure(CONFIG.format(url=server.base_url))
        done = alone.inside("models")
    assert done.status == 0, done.err
    lines = {line[3:].split()[0]: line for line in done.out.splitlines() if line[1:2] in ("✓", "✗")}
    assert lines["dear"].startswith("*✓ dear")
    assert "32.0k tokens, tools, choices by json, $2 in, $10 out per million" in lines["dear"]
    assert lines["file"].startswith(" ✗ file")
    assert lines["openai/gpt-5.4"].endswith("Set OPENAI_API_KEY to use it.")
    assert lines["rehearsal"].startswith(" ✓")
    assert "* is used where no model is named: dear" in done.out


def test_for_programs_it_is_json(alone: Shell) -> None:
    with in_thread(openai_server) as server:
        alone.configure(CONFIG.format(url=server.base_url))
        done = alone.inside("models", "--json")
    listed = json.loads(done.out)
    assert listed["default"] == "dear"
    (dear,) = (one for one in listed["models"] if one["name"] == "dear")
    assert (dear["usable"], dear["choices"]) == (True, "json")
    assert dear["prices"] == {"input": 2.0, "output": 10.0, "cached": None}
    assert all(one["usable"] == (one["why_not"] is None) for one in listed["models"])


@pytest.mark.parametrize("as_json", [False, True])
def test_a_check_sends_one_request(alone: Shell, as_json: bool) -> None:
    with in_thread(lambda: openai_server(say("ok", tokens=(20, 2)))) as server:
        alone.configure(CONFIG.format(url=server.base_url))
        done = alone.inside("models", "--check", "dear", *(["--json"] if as_json else []))
        assert len(server.requests) == 1
    assert done.status == 0, done.err
    if as_json:
        assert json.loads(done.out)["said"] == "ok"
    else:
        assert "✓ dear answered “ok” in " in done.out
        assert "20 tokens in, 2 out, $0.000060" in done.out


def test_a_check_that_fails_gives_status_1_and_says_why(alone: Shell) -> None:
    with in_thread(lambda: openai_server(fail(404))) as server:
        alone.configure(CONFIG.format(url=server.base_url))
        done = alone.inside("models", "--check", "dear")
    assert done.status == 1
    assert "✗ dear: The server does not know this model" in done.out


def test_a_model_that_is_not_there_is_told(alone: Shell) -> None:
    done = alone.inside("models", "--check", "nobody")
    assert done.status == 2
    assert "There is no model “nobody”" in done.err
