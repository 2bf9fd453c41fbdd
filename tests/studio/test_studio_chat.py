"""Talking to the agent: slash commands, completion, history, questions and leave to act."""

from __future__ import annotations

from pathlib import Path

import pytest
from kosong.message import TextPart, ToolCall

from flowstudio.wire import ApprovalGiven, ToolReturned
from tests.studio.kit import DEMO, FakeModel, Held, Studio, open_studio, write_skill


def shell(command: str) -> list[object]:
    """An answer that calls the shell."""
    body = ToolCall.FunctionBody(name="Shell", arguments=f'{{"command": "{command}"}}')
    return [TextPart(text="Let me see."), ToolCall(id="call", function=body)]


# Talk


async def test_what_is_typed_goes_to_the_agent_and_its_answer_streams_in(work: Path) -> None:
    held = Held("and here is the rest")
    model = FakeModel(talk=held)
    async with open_studio(work, model=model) as studio:
        await studio.type("how are you?")
        await studio.until(held.begun.is_set, "the first words")
        await studio.until(lambda: "I am thinking" in studio.text, "the first words")
        held.gate.set()
        await studio.until(lambda: "and here is the rest" in studio.text, "the rest")
        assert model.asked == [("talk", "how are you?")]
        assert "how are you?" in studio.chat_text


async def test_the_agent_can_be_talked_to_between_two_nodes(work: Path) -> None:
    model = FakeModel(talk="Because.")
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.type("why?")
        await studio.until(lambda: "Because." in studio.chat_text, "the answer")
        assert studio.current == "good"
        await studio.press("escape", "c")
        await studio.ended()


async def test_while_a_node_is_asked_talk_is_refused_with_what_to_do(work: Path) -> None:
    held = Held("x")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.type("hello")
        await studio.until(lambda: any("pause the run with p" in t for t in studio.toasts), "why")


async def test_s_cuts_an_answer_that_belongs_to_no_run(work: Path) -> None:
    held = Held("never")
    async with open_studio(work, model=FakeModel(talk=held)) as studio:
        await studio.type("hello")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("escape", "s")
        await studio.until(lambda: not studio.main.driver.is_talking, "the end of the answer")
        assert "never" not in studio.chat_text


# Slash commands


async def test_slash_flow_runs_the_named_flow(work: Path) -> None:
    write_skill(work, DEMO.replace("name: demo", "name: other"), "other")
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.type("/flow:other")
        await studio.ended()
        assert studio.main.skill is not None
        assert studio.main.skill.name == "other"


async def test_slash_flow_gives_the_rest_of_the_line_to_the_flow(work: Path) -> None:
    write_skill(work, DEMO.replace("Write a first draft", "Write about $ARGUMENTS"))
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.type("/flow:demo the sea")
        await studio.ended()
        assert model.asked[0] == ("write", "Write about the sea")


async def test_slash_begin_runs_the_flow_that_is_shown(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.type("/begin")
        await studio.ended()


async def test_slash_skill_gives_a_standard_skill_to_the_agent(mixed: Path) -> None:
    model = FakeModel()
    async with open_studio(mixed, model=model) as studio:
        await studio.type("/skill:notes write one")
        await studio.until(lambda: "Done." in studio.chat_text, "the answer")
        asked = model.asked[0][1]
        assert "Short sentences." in asked
        assert "write one" in asked


async def test_slash_help_lists_the_commands(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.type("/help")
        await studio.until(lambda: "/clear" in studio.chat_text, "the list")
        for name in ("/help", "/begin", "/flow:demo", "/skill:notes", "/model"):
            assert name in studio.chat_text


async def test_slash_clear_empties_the_chat(work: Path) -> None:
    async with open_studio(work, model=FakeModel(talk="Old news.")) as studio:
        await studio.type("hello")
        await studio.until(lambda: "Old news." in studio.chat_text, "the answer")
        await studio.type("/clear")
        await studio.until(lambda: "begins anew" in studio.chat_text, "a new beginning")
        assert "Old news." not in studio.chat_text


async def test_a_command_that_is_not_there_is_said_so(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.type("/nosuch thing")
        await studio.until(lambda: "nosuch" in studio.chat_text.split("\n", 1)[-1], "a sentence")
        assert "Done." not in studio.chat_text


# Typing


async def test_tab_completes_the_command_that_is_highlighted(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("i", "slash", *"flow:d")
        assert studio.completions[0] == "/flow:demo"
        await studio.press("tab")
        assert studio.chat.input.value == "/flow:demo "
        assert studio.completions == []


async def test_enter_completes_a_half_typed_command_before_it_is_sent(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("i", "slash", *"beg", "enter")
        assert studio.chat.input.value == "/begin "
        assert studio.events == []
        await studio.press("enter")
        await studio.ended()


async def test_down_chooses_among_the_completions(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("i", "slash", "down", "tab")
        offered = studio.main.driver.session
        assert offered is not None
        second = offered.soul.available_slash_commands[1]
        assert studio.chat.input.value == f"/{second.name} "


async def test_up_brings_back_what_was_typed_and_down_the_empty_line(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        for line in ("one", "two"):
            await studio.type(line)
            await studio.until(lambda: not studio.main.driver.is_talking, "an answer")
        await studio.press("up")
        assert studio.chat.input.value == "two"
        await studio.press("up", "up")
        assert studio.chat.input.value == "one"
        await studio.press("down", "down")
        assert studio.chat.input.value == ""


async def test_keys_of_the_run_are_letters_while_one_types(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("i", *"rnc1b")
        assert studio.chat.input.value == "rnc1b"
        assert studio.events == []


# Leave to act


async def ask_leave(studio: Studio) -> None:
    await studio.type("make a folder")
    await studio.until(lambda: "Shell wants to" in studio.chat_text, "the request")
    await studio.press("escape")
    studio.chat.query_one("ApprovalCard").focus()
    await studio.pilot.pause()


@pytest.mark.parametrize(
    ("key", "verdict", "is_made"),
    [("y", "allow", True), ("a", "session", True), ("x", "reject", False)],
)
async def test_a_tool_asks_for_leave_in_place(
    work: Path, key: str, verdict: str, is_made: bool
) -> None:
    model = FakeModel(talk=[shell("mkdir made"), "All done."])
    async with open_studio(work, model=model) as studio:
        await ask_leave(studio)
        assert "mkdir made" in studio.chat_text
        await studio.press(key)
        await studio.until(lambda: studio.said(ToolReturned), "the tool's end")
        assert [body.verdict for body in studio.said(ApprovalGiven)] == [verdict]
        assert (work / "made").is_dir() is is_made
        await studio.until(lambda: "wants to" not in studio.chat_text, "the request gone")


async def test_leave_for_the_session_is_not_asked_for_twice(work: Path) -> None:
    model = FakeModel(talk=[shell("mkdir one"), shell("mkdir two"), "All done."])
    async with open_studio(work, model=model) as studio:
        await ask_leave(studio)
        await studio.press("a")
        await studio.until(lambda: "All done." in studio.chat_text, "the answer")
        assert len(studio.said(ApprovalGiven)) == 1
        assert (work / "two").is_dir()


async def test_a_request_takes_the_focus_during_a_run_so_that_its_keys_work(work: Path) -> None:
    model = FakeModel(write=[shell("mkdir made"), "Done."])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(lambda: "Shell wants to" in studio.text, "the request in view")
        await studio.press("y")
        await studio.ended()
        assert (work / "made").is_dir()
        assert studio.view.has_focus


async def test_a_refused_tool_pauses_the_run_and_says_why(work: Path) -> None:
    async with open_studio(work, model=FakeModel(write=[shell("mkdir made")])) as studio:
        await studio.press("r")
        await studio.until(lambda: "Shell wants to" in studio.text, "the request in view")
        await studio.press("x")
        await studio.paused_at("write")
        assert studio.state is not None
        assert studio.state.reason == "tool_rejected"


async def test_a_request_is_answered_by_a_click(work: Path) -> None:
    model = FakeModel(write=[shell("mkdir made"), "Done."])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(lambda: "y allow" in studio.text, "the request in view")
        await studio.click("y allow", within="#chat-pane")
        await studio.ended()


async def test_a_tool_call_is_folded_and_a_click_opens_it(work: Path) -> None:
    model = FakeModel(write=[shell("printf %s%s in side"), "Done."])
    async with open_studio(work, model=model, yolo=True) as studio:
        await studio.press("r")
        await studio.ended()
        assert "⚙ Shell" in studio.chat_text
        before = studio.chat_text.count("inside")
        await studio.click("⚙ Shell", within="#log")
        await studio.until(lambda: studio.chat_text.count("inside") > before, "the output")
