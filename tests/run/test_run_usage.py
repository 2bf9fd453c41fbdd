"""What a run used: tokens, seconds and cost, summed by visit, node and run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kosong.chat_provider import TokenUsage

from flowstudio.config import PriceSettings
from flowstudio.models.prices import find_cost
from flowstudio.run import RunState
from flowstudio.run.usage import Usage, show_cost, usage_by_node
from flowstudio.wire import Body, Event, NodeEntered, NodeLeft, TokensUsed
from tests.cli.shell import Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import in_thread, say

PRICES = PriceSettings(input=2.0, output=10.0, cached=0.5)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (TokenUsage(input_other=1_000_000, output=0), 2.0),
        (TokenUsage(input_other=0, output=1_000_000), 10.0),
        (TokenUsage(input_other=0, output=0, input_cache_read=1_000_000), 0.5),
        (TokenUsage(input_other=0, output=0, input_cache_creation=1_000_000), 2.0),
        (TokenUsage(input_other=1000, output=100, input_cache_read=4000), 0.005),
    ],
)
def test_a_call_costs_what_its_tokens_cost(usage: TokenUsage, cost: float) -> None:
    assert find_cost(usage, PRICES) == pytest.approx(cost)


def test_without_prices_no_cost_is_known() -> None:
    assert find_cost(TokenUsage(input_other=1, output=1), None) is None


def test_cached_tokens_cost_what_others_do_where_no_price_is_named_for_them() -> None:
    usage = TokenUsage(input_other=0, output=0, input_cache_read=1_000_000)
    assert find_cost(usage, PriceSettings(input=2.0, output=1.0)) == pytest.approx(2.0)


def used(cost: float | None = None) -> TokensUsed:
    return TokensUsed("m", 100, 20, 10, 0.5, cost)


def state_of(*said: tuple[Body, str | None]) -> RunState:
    state = RunState()
    for body, node in said:
        state.apply(Event(body, "r", 0.0, node, 1 if node else None))
    return state


def test_calls_are_summed_by_visit_node_and_run() -> None:
    def visit(node: str, *bodies: Body) -> list[tuple[Body, str | None]]:
        entered = NodeEntered(1, "task", node, 1)
        left = NodeLeft(None, None, "model", "", 0, 1.0)
        return [(body, node) for body in (entered, *bodies, left)]

    state = state_of(
        *visit("a", used(0.25), used(0.5)), *visit("b", used(None)), *visit("a", used(1.0))
    )

    assert [visit.usage.calls for visit in state.visits] == [2, 1, 1]
    assert state.visits[0].usage == Usage(2, 200, 40, 20, 1.0, 0.75)
    nodes = usage_by_node(state.visits)
    assert {node: usage.cost for node, usage in nodes.items()} == {"a": 1.75, "b": None}
    assert state.usage == Usage(4, 400, 80, 40, 2.0, 1.75)


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (0.0, "$0.00"),
        (12.345, "$12.35"),
        (0.01234, "$0.0123"),
        (0.0000123, "$0.000012"),
        (3e-9, "$0.0000000030"),
    ],
)
def test_a_small_cost_is_still_seen(cost: float, shown: str) -> None:
    assert show_cost(cost, "$") == shown


CONFIG = """
model: dear
currency: "€"
providers: {{here: {{base_url: "{url}"}}}}
models:
  dear: {{provider: here, model: m-1, prices: {{input: 1000, output: 2000}}}}
"""
CHART = "flowchart TD\nB([BEGIN]) --> a[One] --> b[Two] --> E([END])\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_ends_with_what_it_used(tmp_path: Path, as_json: bool) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "two.mmd").write_text(CHART)
    answers = [say("1", tokens=(100, 10)), say("2", tokens=(200, 20))]
    with in_thread(lambda: openai_server(*answers)) as server:
        shell.configure(CONFIG.format(url=server.base_url))
        done = shell.inside("run", "two.mmd", "--trust", *(["--json"] if as_json else []))
    assert done.status == 0, done.err
    if not as_json:
        assert "  300 tokens in, 30 out, model " in done.out.splitlines()[-1]
        assert ", €0.3600; " in done.out.splitlines()[-1]
        return
    last = json.loads(done.out.splitlines()[-1])
    assert (last["type"], last["input"], last["output"]) == ("run_usage", 300, 30)
    assert last["cost"] == pytest.approx(0.36)
    assert {node: one["cost"] for node, one in last["nodes"].items()} == {"a": 0.12, "b": 0.24}
