"""A turn's rules: the tools that it has, and the model that answers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.models import ModelError, TurnHint, turn_hint
from flowstudio.soul import TurnRules
from flowstudio.wire import ToolReturned
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import Bench, connect


@pytest.mark.parametrize(
    ("tools", "tool", "allowed"),
    [
        (None, "Shell", True),
        ({"Shell"}, "Shell", True),
        ({"ReadFile"}, "Shell", False),
        (set(), "Shell", False),
        ({"issues__*"}, "issues__search", True),
        ({"issues__*"}, "issues2__search", False),
        ({"issues__*"}, "Shell", False),
        ({"shell"}, "Shell", False),
    ],
)
def test_a_tool_is_allowed_by_its_name_or_by_its_servers(
    tools: set[str] | None, tool: str, allowed: bool
) -> None:
    rules = TurnRules(None if tools is None else frozenset(tools))
    assert rules.allows(tool) == allowed


async def test_rules_hold_for_the_nodes_turn_alone(tmp_path: Path) -> None:
    async with openai_server(say("one"), say("two"), say("three")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think", "Shell"])
        bench.soul.find_rules = {
            "a": TurnRules(frozenset({"Think"})),
            "b": TurnRules(frozenset()),
        }.__getitem__
        for node in ("a", "b", None):
            hint = turn_hint.set(TurnHint(node, 1))
            await bench.soul.turn("Go")
            turn_hint.reset(hint)
        told = [
            [tool["function"]["name"] for tool in request.body.get("tools") or ()]
            for request in server.requests
        ]
    assert told == [["Think"], [], ["Think", "Shell"]]


async def test_a_call_of_a_tool_that_was_not_offered_is_refused(tmp_path: Path) -> None:
    calls = use(Call("Shell", {"command": "touch was-here"}))
    async with openai_server(calls, say("Sorry.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think", "Shell"], yolo=True)
        bench.soul.find_rules = lambda _: TurnRules(frozenset({"Think"}))
        hint = turn_hint.set(TurnHint("a", 1))
        await bench.soul.turn("Go")
        turn_hint.reset(hint)
    assert bench.said_of(ToolReturned)[0].brief == "not for this step"
    assert not (tmp_path / "was-here").exists()


async def test_a_model_that_does_not_exist_is_told_and_leaves_the_soul_free(tmp_path: Path) -> None:
    async with openai_server(say("fine")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        bench.soul.find_rules = lambda _: TurnRules(model="nobody")
        hint = turn_hint.set(TurnHint("a", 1))
        with pytest.raises(ModelError, match="nobody"):
            await bench.soul.turn("Go")
        turn_hint.reset(hint)
        result = await bench.soul.turn("Go")
    assert result.answer_text == "fine"
    assert bench.history == [("user", "Go"), ("assistant", "fine")]
