"""What holds a run that nobody watches: trust, a node's tools and model, answers, keys, sandbox."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import LONGEST, ROOT, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, Reply, ScriptedServer, in_thread, say, text_of, use

KEY = "sk-scripted-0123456789abcdef"
MCP_SERVER = ROOT / "tests" / "servers" / "mcp_server.py"
LINE = "BEGIN --> a[Look around] --> b[Write it down] --> END"


class House:
    """A repository with a flow skill, and a configuration with models behind scripted servers."""

    def __init__(self, shell: Shell, stack: ExitStack) -> None:
        self.shell = shell
        self.stack = stack
        self.work = shell.cwd
        (self.work / ".git").mkdir()
        shell.env.pop("FLOWSTUDIO_TRUST")
        shell.env["MAIN_KEY"] = KEY
        self.config = shell.cwd / "flowstudio-home" / "config"
        self.config.mkdir(parents=True)
        self.more: dict[str, Any] = {}

    def skill(self, chart: str = LINE, fields: str = "") -> None:
        file = self.work / ".agents" / "skills" / "demo" / "SKILL.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"---\nname: demo\ndescription: d\ntype: flow\n{fields}\n---\n"
            f"```mermaid\nflowchart TD\n{chart}\n```\n",
            encoding="utf-8",
        )

    def serve(self, **replies: list[Reply]) -> dict[str, ScriptedServer]:
        """A server per model; the first is the one that is configured."""
        servers = {
            name: self.stack.enter_context(in_thread(lambda given=given: openai_server(*given)))
            for name, given in replies.items()
        }
        config = {
            "model": next(iter(servers)),
            "providers": {
                name: {"type": "openai", "base_url": one.base_url, "key_env": "MAIN_KEY"}
                for name, one in servers.items()
            },
            "models": {name: {"provider": name, "model": f"{name}-1"} for name in servers},
            **self.more,
        }
        (self.config / "config.yaml").write_text(json.dumps(config))
        return servers

    def run(self, *argv: str | Path) -> Any:
        return self.shell.inside("run", "demo", "--trust", "--json", *argv)


@pytest.fixture
def house(shell: Shell) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(shell, stack)


def ended(done: Any) -> str:
    return str(end_of(done)["reason"])


def end_of(done: Any) -> dict[str, Any]:
    (end,) = (one for one in done.events if one["type"] == "run_ended")
    return end


# Trust


def test_a_skill_that_came_with_the_folder_is_not_run_before_the_folder_is_trusted(
    house: House,
) -> None:
    house.skill()
    server = house.serve(main=[say("one"), say("two")] * 2)["main"]
    refused = house.shell.inside("run", "demo")
    assert refused.status == 2
    assert str(house.work) in refused.err
    assert "flowstudio trust" in refused.err
    assert server.requests == []
    assert house.shell.inside("run", "demo", "--trust").status == 0
    assert house.shell.inside("run", "demo").status == 0


def test_many_runs_of_a_skill_of_an_untrusted_folder_are_refused_too(house: House) -> None:
    house.skill("B([BEGIN]) --> q{good?}\nq -->|yes| E([END])\nq -->|no| q")
    server = house.serve(main=[say("<choice>yes</choice>")] * 2)["main"]
    for call in (("batch", "demo"), ("stability", "demo", "--node", "q", "--times", "1")):
        refused = house.shell.inside(*call)
        assert refused.status == 2
        assert "flowstudio trust" in refused.err
    assert server.requests == []
    assert house.shell.inside("trust").status == 0
    assert house.shell.inside("stability", "demo", "--node", "q", "--times", "1").status == 0


def test_a_path_does_not_get_around_it(house: House) -> None:
    house.skill()
    house.serve(main=[say("never")])
    folder = house.work / ".agents" / "skills" / "demo"
    bare = house.work / "bare.mmd"
    bare.write_text(f"flowchart TD\n{LINE}\n")
    for path in (folder, folder / "SKILL.md", bare):
        assert house.shell.inside("run", path).status == 2


def test_the_users_own_skills_and_a_rehearsal_need_no_trust(house: House) -> None:
    house.skill()
    assert house.shell.inside("run", "demo", "--seed", "1").status == 0
    own = house.work / "home" / ".agents" / "skills" / "mine"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text(
        f"---\nname: mine\ndescription: d\ntype: flow\n---\n```mermaid\nflowchart TD\n{LINE}\n```\n"
    )
    house.serve(main=[say("one"), say("two")])
    assert house.shell.inside("run", "mine").status == 0


def test_trust_is_given_listed_and_taken_back(house: House) -> None:
    house.skill()
    house.serve(main=[say("one"), say("two")])
    (house.work / "sub").mkdir()
    given = house.shell.inside("trust", "sub")
    assert (given.status, given.out) == (0, f"trusted: {house.work}\n")
    assert house.shell.inside("trust", "--list", "--json").json == {"trusted": [str(house.work)]}
    file = house.work / "flowstudio-home" / "state" / "trust.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert house.shell.inside("trust", "--remove").status == 0
    assert house.shell.inside("run", "demo").status == 2
    assert house.shell.inside("trust", "--remove").status == 2


def test_a_state_of_trust_that_others_may_write_is_not_believed(house: House) -> None:
    house.skill()
    house.serve(main=[say("never")])
    house.shell.inside("trust")
    (house.work / "flowstudio-home" / "state" / "trust.json").chmod(0o666)
    refused = house.shell.inside("run", "demo")
    assert refused.status == 2
    assert "others may write it" in refused.err


# Tools and models per node


def test_a_node_is_answered_by_its_own_model_with_its_own_tools(house: House) -> None:
    house.skill(fields="allowed-tools: [ReadFile, Grep]\nnodes: {b: {model: cheap, tools: [Grep]}}")
    servers = house.serve(main=[say("one")], cheap=[say("two")])
    done = house.run()
    assert done.status == 0
    main, cheap = (servers[name].requests[0].body for name in ("main", "cheap"))
    assert (main["model"], cheap["model"]) == ("main-1", "cheap-1")
    names = [{tool["function"]["name"] for tool in body["tools"]} for body in (main, cheap)]
    assert names == [{"ReadFile", "Grep", "AskUser", "Think", "SetTodoList"}, {"Grep"}]
    # The conversation goes on from one to the other.
    assert "one" in [text_of(message) for message in cheap["messages"]]


def test_a_tool_that_the_node_may_not_use_is_refused_and_the_model_told(house: House) -> None:
    house.skill(fields="allowed-tools: [ReadFile]")
    calls = use(Call("Shell", {"command": "touch was-here"}))
    server = house.serve(main=[calls, say("one"), say("two")])["main"]
    done = house.run("--yolo")
    assert done.status == 0
    assert "may not be used here" in server.requests[1].last_text
    assert not (house.work / "was-here").exists()


def test_a_model_that_is_not_there_is_told_before_anything_is_run(house: House) -> None:
    house.skill(fields="nodes: {b: {model: chaep}}")
    server = house.serve(main=[say("never")], cheap=[])["main"]
    done = house.run()
    assert done.status == 2
    assert "chaep" in done.err
    assert "cheap" in done.err
    assert server.requests == []


# The user's answers

ASKS = use(Call("AskUser", {"question": "Which branch of the repository?", "options": ["main"]}))


def answers(house: House, name: str, text: str) -> Path:
    file = house.work / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_question_that_nobody_answers_ends_the_run_and_says_what_was_asked(house: House) -> None:
    house.skill()
    house.serve(main=[ASKS, say("never")])
    done = house.run()
    assert (done.status, ended(done)) == (12, "needs_user")
    assert "Which branch of the repository?" in end_of(done)["message"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "- main\n"),
        ("a.yaml", "- {question: nothing like it, answer: no}\n- main\n"),
        ("a.yaml", "'(?s)which.*repository': main\n"),
        ("a.jsonl", '{"question": "WHICH BRANCH", "answer": "main"}\n'),
        ("a.jsonl", '"main"\n"unused"\n'),
    ],
)
def test_a_question_is_answered_from_a_file(house: House, name: str, text: str) -> None:
    house.skill()
    server = house.serve(main=[ASKS, say("one"), say("two")])["main"]
    done = house.run("--answers", answers(house, name, text))
    assert (done.status, ended(done)) == (0, "reached_end")
    assert "main" in server.requests[1].last_text
    said = [(one["type"], one.get("answer")) for one in done.events if "user_" in one["type"]]
    assert said == [("user_asked", None), ("user_answered", "main")]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.yaml", "main", "a list, or a mapping"),
        ("a.yaml", "- [1]", "answer 1"),
        ("a.yaml", "- {question: '(', answer: x}", "no regular expression"),
        ("a.jsonl", '"ok"\nmain\n', ":2: no JSON"),
        ("none.yaml", "", "cannot be read"),
    ],
)
def test_answers_that_cannot_be_used_are_a_wrong_call(
    house: House, name: str, text: str, told: str
) -> None:
    house.skill()
    house.serve(main=[say("never")])
    file = answers(house, name, text) if text else house.work / name
    done = house.run("--answers", file)
    assert done.status == 2
    assert told in done.err


def test_a_node_may_ask_the_user_instead_of_the_model(house: House) -> None:
    house.skill(
        'BEGIN --> who["Ask the user: Who is it for?"] --> go{"问用户：Go on?"}\n'
        "go -->|yes| w[Write it] --> END\ngo -->|no| END"
    )
    server = house.serve(main=[say("written")])["main"]
    done = house.run("--answers", answers(house, "a.yaml", "- for the children\n- 'Yes'\n"))
    assert (done.status, ended(done)) == (0, "reached_end")
    (made,) = (one for one in done.events if one["type"] == "choice_made")
    assert (made["branch"], made["by"]) == ("yes", "user")
    (request,) = server.requests
    told = "\n".join(text_of(message) for message in request.messages)
    assert "for the children" in told


def test_without_an_answer_such_a_node_ends_the_run(house: House) -> None:
    house.skill("BEGIN --> who[Ask the user: who is it for?] --> END")
    house.serve(main=[])
    done = house.run()
    assert (done.status, ended(done)) == (12, "needs_user")


def test_a_run_that_needed_the_user_goes_on_with_answers(house: House) -> None:
    house.skill("BEGIN --> who[Ask the user: who is it for?] --> w[Write it] --> END")
    server = house.serve(main=[say("written")])["main"]
    assert house.run().status == 12
    file = answers(house, "a.yaml", "- everybody\n")
    done = house.shell.inside("resume", "last", "--answers", file, "--json")
    assert (done.status, ended(done)) == (0, "reached_end")
    assert "everybody" in "\n".join(text_of(one) for one in server.requests[0].messages)


# MCP servers, keys, the sandbox


def test_servers_of_mcp_json_bring_their_tools_and_one_that_fails_is_told(house: House) -> None:
    house.skill()
    servers = {
        "sums": {"type": "stdio", "command": sys.executable, "args": [str(MCP_SERVER)]},
        "gone": {"command": "${NO_SUCH_VARIABLE}"},
        "off": {"command": "x", "disabled": True},
    }
    (house.config / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    add = use(Call("sums__add", {"a": 2, "b": 40}))
    server = house.serve(main=[add, say("one"), say("two")])["main"]
    done = house.run("--yolo")
    assert done.status == 0
    assert "42" in server.requests[1].last_text
    told = [one["text"] for one in done.events if one["type"] == "notice"]
    assert len(told) == 1
    assert "NO_SUCH_VARIABLE is not set" in told[0]


def test_a_key_that_a_tool_comes_upon_is_shown_nowhere(house: House) -> None:
    house.skill()
    (house.work / "leak.txt").write_text(f"the key is {KEY}, keep it\n")
    calls = use(
        Call("ReadFile", {"path": "leak.txt"}),
        Call("Shell", {"command": "cat leak.txt; cat leak.txt >&2; exit 3"}),
        Call("Grep", {"pattern": "key"}),
    )
    server = house.serve(main=[calls, say("one"), say("two")])["main"]
    done = house.run("--yolo")
    assert done.status == 0
    assert "the key is ***, keep it" in done.out
    assert KEY not in done.out
    assert KEY not in json.dumps([request.body for request in server.requests])
    runs = house.work / "flowstudio-home" / "data" / "runs"
    for file in runs.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file


def test_a_sandbox_that_is_asked_for_and_not_there_refuses_the_run(house: House) -> None:
    house.skill()
    server = house.serve(main=[say("never")])["main"]
    house.shell.env["PATH"] = ""
    done = house.run("--sandbox")
    assert done.status == 2
    assert "bubblewrap" in done.err
    assert server.requests == []


def test_what_a_run_wrote_can_be_taken_back_from_its_folder(house: House) -> None:
    from flowstudio.soul.undo import UndoLog

    house.skill()
    (house.work / "a.txt").write_text("before")
    calls = use(Call("WriteFile", {"path": "a.txt", "content": "after"}))
    house.serve(main=[calls, say("one"), say("two")])
    assert house.run("--yolo").status == 0
    (run,) = (house.work / "flowstudio-home" / "data" / "runs").iterdir()
    log = UndoLog(run / "undo")
    (write,) = log.since(0)
    log.revert(write)
    assert (house.work / "a.txt").read_text() == "before"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_ends_with_the_program_and_all_that_it_started(
    house: House, number: signal.Signals
) -> None:
    house.skill()
    command = "setsid sleep 600 & echo $! > a; sleep 600 & echo $! > b.tmp; mv b.tmp b; sleep 600"
    house.serve(main=[use(Call("Shell", {"command": command}))])
    process = house.shell.start("run", "demo", "--trust", "--yolo", "--json")
    try:
        deadline = time.monotonic() + LONGEST
        while not (house.work / "b").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        out, _ = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b'"interrupted"' in out
    for name in ("a", "b"):
        assert not is_alive(int((house.work / name).read_text()))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that was just killed is given a moment to go."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        if state in ("Z", "X"):
            return False
    return True
