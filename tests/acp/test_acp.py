"""An editor drives the agent and its flows over ACP, in a real process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from acp import PROTOCOL_VERSION, RequestError, resource_link_block
from acp.schema import McpServerStdio

from tests.acp.kit import ROOT, Editor, editor
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, ScriptedServer, fail, say, use

FLOW = """---
name: ask-twice
description: Asks until it is good.
type: flow
---

```mermaid
flowchart TD
    BEGIN([BEGIN]) --> write[Write it]
    write --> check{Is it good?}
    check -->|yes| END([END])
    check -->|no| write
```
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    file = tmp_path / ".agents" / "skills" / "ask-twice" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(FLOW)
    return tmp_path


def model(server: ScriptedServer, trusted: Path | None = None) -> dict[str, str]:
    trust = {"FLOWSTUDIO_TRUST": str(trusted)} if trusted else {}
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "scripted-1", **trust}


async def test_a_session_begins_with_its_commands_flows_among_them(work: Path) -> None:
    async with editor(work) as zed:
        await zed.until(lambda: zed.of("available_commands_update"))
        (update,) = zed.of("available_commands_update")
        commands = {one.name: one for one in update.available_commands}
        assert commands["flow:ask-twice"].description == "Asks until it is good."
        assert commands["flow:ask-twice"].input.root.hint == "[input]"
        assert {"help", "compact", "model"} <= commands.keys()
        answer = await zed.conn.initialize(protocol_version=PROTOCOL_VERSION)
        assert answer.agent_info.name == "flowstudio"
        assert answer.agent_capabilities.prompt_capabilities.image


async def test_an_answer_streams_and_a_prompt_can_link_files(work: Path) -> None:
    async with openai_server(say("Good ", "morning", tokens=(30, 7))) as server:
        async with editor(work, env=model(server)) as zed:
            link = resource_link_block("notes", f"file://{work}/notes.md")
            done = await zed.say("Look at ", link)
        assert done.stop_reason == "end_turn"
        assert (done.usage.input_tokens, done.usage.output_tokens) == (30, 7)
        assert zed.text == "Good morning"
        assert len(zed.of("agent_message_chunk")) == 2
        assert server.requests[0].last_text == f"Look at @{work}/notes.md "


@pytest.mark.parametrize(
    ("word", "written"), [("Allow", True), ("Reject", False), ("nothing", False)]
)
async def test_a_tool_that_writes_asks_first(work: Path, word: str, written: bool) -> None:
    call = use(Call("WriteFile", {"path": "a.txt", "content": "new\n"}))
    async with openai_server(call, say("Done.")) as server:
        async with editor(work, env=model(server)) as zed:
            zed.pick = lambda options: word
            done = await zed.say("Write it")
    assert done.stop_reason == "end_turn"
    assert (work / "a.txt").exists() == written
    ((asked, options),) = zed.asked
    assert [one.kind for one in options] == ["allow_once", "allow_always", "reject_once"]
    assert "new" in asked.content[0].content.text
    (begun,) = zed.of("tool_call")
    assert (begun.kind, begun.status) == ("edit", "in_progress")
    assert asked.tool_call_id == begun.tool_call_id
    (ended,) = zed.of("tool_call_update")
    assert ended.tool_call_id == begun.tool_call_id
    assert ended.status == ("completed" if written else "failed")


async def test_a_flow_runs_as_a_plan(work: Path) -> None:
    answers = [
        say("Written."),
        say("<choice>no</choice>"),
        say("Better."),
        say("<choice>yes</choice>"),
    ]
    async with openai_server(*answers) as server:
        async with editor(work, env=model(server, work)) as zed:
            done = await zed.say("/flow:ask-twice a poem")
        assert server.requests[0].last_text == "a poem\n\nWrite it"
    assert done.stop_reason == "end_turn"
    assert zed.plans[0] == [("Write it", "pending"), ("Is it good?", "pending")]
    assert [("Write it", "completed"), ("Is it good?", "in_progress")] in zed.plans
    assert [("Write it", "in_progress"), ("Is it good?", "completed")] in zed.plans
    assert zed.plans[-1] == [("Write it", "completed"), ("Is it good?", "completed")]
    assert "→ no (model)" in zed.text
    assert "✓ the run reached END" in zed.text
    assert list((work / "flowstudio-home" / "data" / "runs").iterdir())


@pytest.mark.parametrize(("word", "calls"), [("No", 0), ("Yes, I trust it", 2)])
async def test_a_flow_of_a_folder_that_is_not_trusted_is_asked_about(
    work: Path, word: str, calls: int
) -> None:
    async with openai_server(say("Written."), say("<choice>yes</choice>")) as server:
        async with editor(work, env=model(server)) as zed:
            zed.pick = lambda options: word
            done = await zed.say("/flow:ask-twice")
        assert len(server.requests) == calls
    assert done.stop_reason == "end_turn"
    assert ("not run" in zed.text) == (calls == 0)


async def test_without_a_model_the_user_picks_the_branches(work: Path) -> None:
    picks = iter(["no", "yes"])
    async with editor(work) as zed:
        zed.pick = lambda options: next(picks)
        done = await zed.say("/flow:ask-twice")
    assert done.stop_reason == "end_turn"
    assert [[one.name for one in options] for _, options in zed.asked] == [["yes", "no"]] * 2
    assert "→ yes (user)" in zed.text


async def test_a_prompt_is_cancelled_and_the_next_one_is_answered(work: Path) -> None:
    async with openai_server(say("half", fault="stall"), say("Whole.")) as server:
        async with editor(work, env=model(server)) as zed:
            assert await cancelled(zed, "Go") == "cancelled"
            done = await zed.say("Again")
    assert done.stop_reason == "end_turn"
    assert "Whole." in zed.text


async def test_a_run_is_cancelled_in_good_order(work: Path) -> None:
    async with openai_server(say("half", fault="stall")) as server:
        async with editor(work, env=model(server, work)) as zed:
            assert await cancelled(zed, "/flow:ask-twice") == "cancelled"
    assert "you stopped the run" in zed.text


async def cancelled(zed: Editor, prompt: str) -> str:
    """Cancel the prompt once its answer has begun."""
    asking = asyncio.create_task(zed.say(prompt))
    await zed.until(lambda: "half" in zed.text)
    await zed.conn.cancel(session_id=zed.session)
    return (await asking).stop_reason


async def test_a_model_that_fails_is_told_as_an_error_without_its_key(work: Path) -> None:
    key = "sk-scripted-0123456789abcdef"
    async with openai_server(fail(401, message=f"bad key {key}")) as server:
        async with editor(work, env={**model(server), "OPENAI_API_KEY": key}) as zed:
            with pytest.raises(RequestError, match="refused the key") as caught:
                await zed.say("Go")
    assert key not in f"{caught.value} {caught.value.data} {zed.text}"


async def test_an_unknown_command_is_told_and_a_wrong_folder_refused(work: Path) -> None:
    async with editor(work) as zed:
        await zed.say("/flow:ask-twize")
        assert "Did you mean /flow:ask-twice?" in zed.text
        with pytest.raises(RequestError, match="cwd must be a folder"):
            await zed.conn.new_session(cwd="nowhere", mcp_servers=[])
        with pytest.raises(RequestError, match="There is no session"):
            await zed.conn.prompt(session_id="x", prompt=[])


async def test_the_editors_mcp_servers_are_tools(work: Path) -> None:
    server_file = ROOT / "tests" / "servers" / "mcp_server.py"
    mcp = McpServerStdio(name="my tools", command=sys.executable, args=[str(server_file)], env=[])
    async with openai_server(say("ok")) as server:
        async with editor(work, env=model(server), servers=[mcp]) as zed:
            await zed.say("Hello")
        names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert any(name.startswith("my-tools__") for name in names)


async def test_a_model_that_does_not_exist_is_told_when_the_session_opens(work: Path) -> None:
    with pytest.raises(RequestError, match="no model “nobody”"):
        async with editor(work, "--model", "nobody"):
            pass


def test_an_editor_never_waits_for_a_screen_library() -> None:
    code = "import sys, flowstudio.acp.agent; print('textual' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
