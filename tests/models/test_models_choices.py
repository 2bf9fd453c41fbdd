"""A model that names no branch is held to one by its server; whatever it says before stays free."""

from __future__ import annotations

from typing import Any, get_args

import kosong
import pytest
from kosong.chat_provider import APIStatusError
from kosong.message import Message
from kosong.tooling import Tool

from flowstudio.config import ChoiceMode, Config
from flowstudio.flow.choice import choice_prompt, parse_choice
from flowstudio.models import LLM, ModelOption, TurnHint, build_model, turn_hint
from flowstudio.models.choices import find_means
from flowstudio.models.gbnf import branch_grammar, label_grammar, quote
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, ScriptedServer, fail, say, use

BRANCHES = ("通过", 'say "no"')
TOOLS = [Tool(name="look", description="Look.", parameters={"type": "object", "properties": {}})]
ENUM = {"type": "string", "enum": list(BRANCHES)}

ANSWERS: dict[ChoiceMode, Any] = {
    "grammar": say("通过"),
    "json": say('{"branch": ', '"通过"}'),
    "tool": use(Call("choose_branch", {"branch": "通过"})),
}


async def connect(server: ScriptedServer, choices: ChoiceMode, **more: Any) -> LLM:
    option = ModelOption("m", "openai", "model-1", server.base_url, choices=choices, **more)
    return await build_model(option, Config())


async def decide(
    llm: LLM, branches: tuple[str, ...] = BRANCHES, tools: Any = TOOLS
) -> kosong.GenerateResult:
    token = turn_hint.set(TurnHint("check", 1, branches))
    try:
        prompt = Message(role="user", content=choice_prompt("Is it good?", branches))
        return await kosong.generate(llm.provider, "Be brief.", tools, [prompt])
    finally:
        turn_hint.reset(token)


@pytest.mark.parametrize("mode", ANSWERS)
async def test_an_answer_without_a_choice_gets_one_that_the_server_held_to_the_branches(
    mode: ChoiceMode,
) -> None:
    async with openai_server(say("It is fine."), ANSWERS[mode]) as server:
        result = await decide(await connect(server, mode))
        first, second = (request.body for request in server.requests)
    assert result.message.extract_text() == "It is fine.\n\n<choice>通过</choice>"
    assert not result.message.tool_calls
    assert result.usage is not None
    assert (result.usage.input, result.usage.output) == (200, 20)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["look"]
    assert not first.keys() & {"grammar", "response_format", "tool_choice"}
    assert second["messages"][-2]["content"] == "It is fine."
    match mode:
        case "grammar":
            assert second["grammar"] == 'root ::= "通过" | "say \\"no\\""'
        case "json":
            schema = second["response_format"]["json_schema"]
            assert schema["strict"] is True
            assert schema["schema"]["properties"]["branch"] == ENUM
        case _:
            (tool,) = second["tools"]
            assert tool["function"]["parameters"]["properties"]["branch"] == ENUM
            assert second["tool_choice"]["function"]["name"] == "choose_branch"


@pytest.mark.parametrize("mode", [*ANSWERS, "text"])
async def test_an_answer_with_its_choice_costs_no_second_call(mode: ChoiceMode) -> None:
    said = "Well.\n<choice> 通过 </choice>"
    async with openai_server(say(said)) as server:
        result = await decide(await connect(server, mode))
        assert len(server.requests) == 1
    assert result.message.extract_text() == said


async def test_in_words_only_a_wrong_choice_is_left_to_the_runner() -> None:
    async with openai_server(say("<choice>maybe</choice>")) as server:
        result = await decide(await connect(server, "text"))
    assert result.message.extract_text() == "<choice>maybe</choice>"


async def test_a_choice_that_is_no_branch_is_put_right_behind_it() -> None:
    async with openai_server(say("<choice>maybe</choice>"), say("通过")) as server:
        result = await decide(await connect(server, "grammar"))
    assert parse_choice(result.message.extract_text()) == "通过"


async def test_an_answer_that_calls_tools_is_not_interrupted() -> None:
    async with openai_server(use(Call("look"))) as server:
        result = await decide(await connect(server, "json"))
        assert len(server.requests) == 1
    assert [call.function.name for call in result.message.tool_calls or ()] == ["look"]


async def test_a_prompt_without_branches_is_passed_on_as_it_is() -> None:
    async with openai_server(say("Done.")) as server:
        result = await decide(await connect(server, "grammar"), branches=())
        assert "grammar" not in server.requests[0].body
    assert result.message.extract_text() == "Done."


async def test_without_tools_a_grammar_holds_the_one_answer_text_first() -> None:
    async with openai_server(say("So: <choice>通过</choice>")) as server:
        llm = await connect(server, "grammar", capabilities=frozenset[Any]())
        await decide(llm)
        (request,) = server.requests
    assert request.body["grammar"] == branch_grammar(BRANCHES)
    assert not request.body.get("tools")


async def test_a_model_that_thinks_is_not_held_by_a_grammar_while_it_does() -> None:
    async with openai_server(say("So: <choice>通过</choice>")) as server:
        await decide(await connect(server, "grammar", capabilities=frozenset[Any]({"thinking"})))
        assert "grammar" not in server.requests[0].body


async def test_a_model_without_tools_is_told_of_none() -> None:
    async with openai_server(say("ok")) as server:
        await decide(await connect(server, "text", capabilities=frozenset[Any]()), branches=())
        assert not server.requests[0].body.get("tools")


@pytest.mark.parametrize("status", [400, 422, 501])
async def test_a_server_that_does_not_know_the_field_is_asked_in_words_from_then_on(
    status: int,
) -> None:
    async with openai_server(say("Hm."), fail(status), say("Hm again.")) as server:
        llm = await connect(server, "json")
        first = await decide(llm)
        second = await decide(llm)
        assert len(server.requests) == 3
    assert first.message.extract_text() == "Hm."
    assert second.message.extract_text() == "Hm again."


async def test_a_server_that_fails_is_told_to_whoever_retries() -> None:
    async with openai_server(say("Hm."), fail(503)) as server:
        with pytest.raises(APIStatusError) as caught:
            await decide(await connect(server, "json"))
    assert caught.value.status_code == 503


@pytest.mark.parametrize("answer", ["[]", "{}", '{"branch": 7}', '{"branch": "maybe"}', "null"])
async def test_what_names_no_branch_even_so_adds_nothing(answer: str) -> None:
    async with openai_server(say("Hm."), say(answer)) as server:
        result = await decide(await connect(server, "json"))
    assert result.message.extract_text() == "Hm."


@pytest.mark.parametrize(
    ("provider", "url", "server", "choices", "means"),
    [
        ("openai", None, "", "auto", "json"),
        ("openai", "http://house/v1", "", "auto", None),
        ("openai", "http://house/v1", "", "tool", "tool"),
        ("openai", "http://127.0.0.1:8080/v1", "llama.cpp", "auto", "grammar"),
        ("openai", "http://127.0.0.1:11434/v1", "ollama", "auto", "json"),
        ("openai", None, "", "text", None),
        ("local", None, "", "auto", "grammar"),
        ("local", None, "", "text", None),
        ("kimi", None, "", "auto", None),
        ("kimi", None, "", "tool", "tool"),
        ("anthropic", None, "", "tool", None),
        ("gemini", None, "", "json", None),
    ],
)
def test_what_a_server_offers_is_known_or_configured(
    provider: Any, url: str | None, server: Any, choices: Any, means: str | None
) -> None:
    option = ModelOption("m", provider, "x", url, choices=choices, server=server)
    assert find_means(option) == means


def test_each_mode_of_the_configuration_is_covered_here() -> None:
    assert {*ANSWERS, "auto", "text"} == set(get_args(ChoiceMode.__value__))


# ---- the grammar ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "literal"),
    [
        ("yes", '"yes"'),
        ("通过", '"通过"'),
        ('say "no"', r'"say \"no\""'),
        ("a\\b", r'"a\\b"'),
        ("a\nb\tc\rd", r'"a\nb\tc\rd"'),
        ("\x00\x1b\x7f", r'"\x00\x1B\x7F"'),
        ("[a-z] | (b)* ::= # {1,2}", '"[a-z] | (b)* ::= # {1,2}"'),
        ("🙂", '"🙂"'),
        ("\ud800", r'"\uFFFD"'),
    ],
)
def test_a_label_is_one_literal_whatever_stands_in_it(label: str, literal: str) -> None:
    assert quote(label) == literal


def test_a_label_of_several_lines_stays_on_one() -> None:
    """In GBNF the end of a line ends the rule."""
    assert label_grammar(["a\nb", "c"]).count("\n") == 0
