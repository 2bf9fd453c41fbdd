"""One walk through a flow, without anybody who steers it: path, prompts, choices, ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from kosong.message import TextPart

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.runner import FlowRunner
from flowstudio.soul import MaxStepsReached
from flowstudio.wire import (
    ChoiceMade,
    ChoiceRejected,
    Event,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunStarted,
    StepBegan,
)
from tests.run.rig import FORK, LINE, SELF_LOOP, Rig, broken, choose
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import connect


async def test_a_straight_flow_sends_each_label_in_turn_and_reaches_end() -> None:
    rig = Rig(LINE)
    outcome = await rig.run()
    assert outcome.reason == "reached_end"
    assert outcome.path == ("B", "a", "b", "E")
    assert outcome.moves == 3
    assert rig.prompts == [("a", 1, "first"), ("b", 1, "second")]


async def test_the_events_of_a_run_come_in_their_order() -> None:
    rig = Rig("flowchart TD\n B([BEGIN]) --> a[first] --> E([END])")
    await rig.run()
    assert rig.types == [
        "run_started",
        "node_entered",
        "node_left",
        "node_entered",
        "prompt_sent",
        "step_began",
        "text",
        "status_changed",
        "node_left",
        "node_entered",
        "node_left",
        "run_ended",
    ]


async def test_begin_and_end_are_entered_and_left_like_any_node() -> None:
    rig = Rig(LINE)
    await rig.run()
    entered = [event.node for event in rig.events if isinstance(event.body, NodeEntered)]
    left = [(event.node, event.body.to) for event in rig.events if isinstance(event.body, NodeLeft)]
    assert entered == ["B", "a", "b", "E"]
    assert left == [("B", "a"), ("a", "b"), ("b", "E"), ("E", None)]


async def test_a_run_says_what_it_was_started_with_and_how_it_ended() -> None:
    rig = Rig(LINE, path="x/SKILL.md", model="m", max_moves=7)
    await rig.run("the input")
    started = rig.said_of(RunStarted)
    assert started == [RunStarted("flow", "x/SKILL.md", 1, "m", "the input", 7)]
    assert rig.said_of(RunEnded) == [RunEnded("reached_end", "the run reached END", 3)]


async def test_what_happens_in_a_visit_is_stamped_with_its_node_and_visit() -> None:
    rig = Rig(FORK, {"q": [choose("no"), choose("yes")]})
    await rig.run()
    asked = [(e.node, e.visit) for e in rig.events if isinstance(e.body, StepBegan)]
    assert asked == [("a", 1), ("q", 1), ("a", 2), ("q", 2)]
    assert all(e.node is None for e in (rig.events[0], rig.events[-1]))


async def test_an_answer_its_branch_and_the_next_node_are_one_record() -> None:
    rig = Rig(FORK, {"a": "I worked.", "q": choose("yes")})
    await rig.run()
    left = {event.node: event.body for event in rig.events if isinstance(event.body, NodeLeft)}
    task, decision = left["a"], left["q"]
    assert (task.to, task.branch, task.by, task.answer) == ("q", None, "only-exit", "I worked.")
    assert (decision.to, decision.branch, decision.by) == ("E", "yes", "script")
    assert decision.answer == choose("yes")


async def test_a_decision_is_asked_with_its_branches_in_source_order() -> None:
    rig = Rig(FORK, {"q": choose("yes")})
    await rig.run()
    assert rig.prompts[1][2] == (
        "good?\n\nAvailable branches:\n- yes\n- no\n\n"
        "Reply with a choice using <choice>...</choice>."
    )
    assert rig.choices == [("q", "yes", "script")]


async def test_a_loop_is_walked_until_the_answer_leaves_it_and_visits_are_counted() -> None:
    rig = Rig(FORK, {"q": [choose("no"), choose("no"), choose("yes")]})
    outcome = await rig.run()
    assert outcome.path == ("B", "a", "q", "a", "q", "a", "q", "E")
    visits = [e.visit for e in rig.events if isinstance(e.body, NodeEntered) and e.node == "q"]
    assert visits == [1, 2, 3]
    assert [body.move for body in rig.said_of(NodeEntered)] == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_a_self_loop_is_a_new_visit_of_the_same_node() -> None:
    rig = Rig(SELF_LOOP, {"w": [choose("not yet"), choose("not yet"), choose("yes")]})
    outcome = await rig.run()
    assert outcome.path == ("B", "w", "w", "w", "E")


async def test_all_turns_share_one_conversation() -> None:
    rig = Rig(LINE, {"a": "one", "b": "two"})
    await rig.run()
    assert rig.conversation == [
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
        ("assistant", "two"),
    ]


# Choices


@pytest.mark.parametrize(
    "answer",
    [
        "<choice>yes</choice>",
        "<choice> yes </choice> and more words",
        "<choice>no</choice> … no, wait: <choice>yes</choice>",
        "<choice>Yes.</choice>",
        '<choice>"YES"</choice>',
    ],
)
async def test_the_last_tag_decides_where_it_means_exactly_one_branch(answer: str) -> None:
    rig = Rig(FORK, {"q": answer})
    await rig.run()
    assert rig.choices == [("q", "yes", "script")]
    assert rig.said_of(ChoiceRejected) == []


async def test_an_answer_that_names_no_branch_is_asked_again_with_what_was_wrong() -> None:
    rig = Rig(FORK, {"q": ["It is fine.", "<choice>maybe</choice>", choose("yes")]})
    outcome = await rig.run()
    assert outcome.reason == "reached_end"
    assert rig.said_of(ChoiceRejected) == [
        ChoiceRejected(None, 1, 4, ("yes", "no")),
        ChoiceRejected("maybe", 2, 4, ("yes", "no")),
    ]
    attempts = [(body.attempt, body.prompt) for body in rig.said_of(PromptSent)][1:]
    assert [attempt for attempt, _ in attempts] == [1, 2, 3]
    assert "held no <choice>" in attempts[1][1]
    assert '"maybe", which is not one of the branches' in attempts[2][1]
    assert "<choice>yes</choice>\n<choice>no</choice>" in attempts[2][1]


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_a_run_without_a_user_ends_when_all_retries_named_no_branch(retries: int) -> None:
    rig = Rig(FORK, {"q": "<choice>maybe</choice>"}, max_choice_retries=retries)
    outcome = await rig.run()
    assert outcome.reason == "choice_failed"
    assert f"answered “maybe” {retries + 1} times" in outcome.message
    assert "yes, no" in outcome.message
    assert len(rig.said_of(ChoiceRejected)) == retries + 1
    assert len(rig.prompts) == 1 + retries + 1
    assert rig.said_of(ChoiceMade) == []


async def test_tokens_and_answer_of_a_decision_cover_all_its_attempts() -> None:
    async with openai_server() as server:
        server.script(
            say("ok", tokens=(10, 1)), say("hm", tokens=(20, 2)), say(choose("yes"), tokens=(30, 3))
        )
        rig = Rig(FORK, llm=await connect(server.base_url))
        await rig.run()
    left = {event.node: event.body for event in rig.events if isinstance(event.body, NodeLeft)}
    assert left["a"].tokens == 11
    assert left["q"].tokens == 22 + 33


# Ends


async def test_a_node_with_nothing_behind_it_is_executed_before_the_run_ends() -> None:
    chart = "flowchart TD\n B([BEGIN]) --> q{?}\n q -->|on| E([END])\n q -->|off| x[last words]"
    rig = Rig(chart, {"q": choose("off"), "x": "Goodbye."})
    outcome = await rig.run()
    assert outcome.reason == "dead_end"
    assert outcome.path == ("B", "q", "x")
    assert "“x”" in outcome.message
    last = rig.said_of(NodeLeft)[-1]
    assert (last.to, last.answer) == (None, "Goodbye.")


@pytest.mark.parametrize(
    ("bound", "path", "reaches_end"),
    [
        (1, ["B", "a"], False),
        (2, ["B", "a", "b"], False),
        (3, ["B", "a", "b", "E"], True),
        (4, ["B", "a", "b", "E"], True),
    ],
)
async def test_a_run_follows_at_most_max_moves_edges(
    bound: int, path: list[str], reaches_end: bool
) -> None:
    rig = Rig(LINE, max_moves=bound)
    if reaches_end:
        assert (await rig.run()).reason == "reached_end"
    else:
        with pytest.raises(MaxStepsReached, match=f"made {bound} moves"):
            await rig.run()
        assert rig.said_of(RunEnded)[-1].reason == "max_moves"
    assert rig.path == path
    assert rig.said_of(RunEnded)[-1].moves == len(path) - 1


async def test_no_model_is_called_for_a_node_that_could_not_be_left() -> None:
    rig = Rig(LINE, max_moves=2)
    with pytest.raises(MaxStepsReached):
        await rig.run()
    assert [node for node, _, _ in rig.prompts] == ["a"]


async def test_an_endless_loop_is_bounded() -> None:
    rig = Rig(SELF_LOOP, {"w": choose("not yet")}, max_moves=50)
    with pytest.raises(MaxStepsReached):
        await rig.run()
    assert rig.said_of(RunEnded)[-1].moves == 50


async def test_a_failing_model_ends_a_run_without_a_user_and_leaves_no_trace() -> None:
    rig = Rig(LINE, {"b": broken("the line is dead")})
    outcome = await rig.run()
    assert (outcome.reason, outcome.message) == ("model_failed", "the line is dead")
    assert rig.conversation == [("user", "first"), ("assistant", "Done.")]


async def test_a_run_without_a_model_says_that_none_is_chosen() -> None:
    rig = Rig(LINE)
    rig.soul.set_model(None)
    outcome = await rig.run()
    assert outcome.reason == "model_failed"
    assert outcome.message.startswith("No model is chosen.")


async def test_a_refused_tool_ends_a_run_without_a_user(tmp_path: Path) -> None:
    write = use(Call("WriteFile", {"path": "x.txt", "content": "x"}))
    async with openai_server(write) as server:
        llm = await connect(server.base_url)
        rig = Rig(LINE, llm=llm, tools=["WriteFile"], work_dir=tmp_path)
        outcome = await rig.run()
    assert outcome.reason == "tool_rejected"
    assert "“a”" in outcome.message
    assert not (tmp_path / "x.txt").exists()


async def test_a_consumer_that_fails_breaks_the_run_off_and_the_others_hear_of_it() -> None:
    rig = Rig(LINE)

    def refuse(event: Event) -> None:
        if event.node == "b":
            leave()
            raise OSError(28, "No space left on device")

    leave = rig.wire.subscribe(refuse, first=True)
    with pytest.raises(OSError, match="No space left"):
        await rig.run()
    ended = rig.said_of(RunEnded)
    assert [body.reason for body in ended] == ["failed"]
    assert "No space left" in ended[0].message
    assert rig.control.state == "ended"


# Input


async def test_input_fills_every_place_for_it() -> None:
    chart = "flowchart TD\n B([BEGIN]) --> a[Fix $ARGUMENTS] --> b[Test $ARGUMENTS] --> E([END])"
    rig = Rig(chart)
    await rig.run("the bug")
    assert [prompt for _, _, prompt in rig.prompts] == ["Fix the bug", "Test the bug"]


async def test_input_that_no_label_takes_goes_before_the_first_prompt_alone() -> None:
    rig = Rig(LINE)
    await rig.run("Be quick.")
    assert [prompt for _, _, prompt in rig.prompts] == ["Be quick.\n\nfirst", "second"]


async def test_blank_input_adds_nothing() -> None:
    rig = Rig(LINE)
    await rig.run("  \n ")
    assert rig.prompts[0][2] == "first"


async def test_input_goes_before_a_decision_too() -> None:
    rig = Rig(SELF_LOOP, {"w": choose("yes")})
    await rig.run("Be quick.")
    assert rig.prompts[0][2].startswith("Be quick.\n\nnormal?\n\nAvailable branches:")


async def test_variables_fill_their_places_and_unknown_ones_stay() -> None:
    chart = 'flowchart TD\n B([BEGIN]) --> a["Go to {{ city }} by {{means}}"] --> E([END])'
    rig = Rig(chart, variables={"city": "Kyōto"})
    await rig.run()
    assert rig.prompts[0][2] == "Go to Kyōto by {{means}}"


async def test_what_is_filled_in_is_data_and_is_not_filled_again() -> None:
    chart = 'flowchart TD\n B([BEGIN]) --> a["{{x}} and $ARGUMENTS"] --> E([END])'
    rig = Rig(chart, variables={"x": "$ARGUMENTS"})
    await rig.run("{{x}}")
    assert rig.prompts[0][2] == "$ARGUMENTS and {{x}}"


async def test_a_label_of_content_parts_is_sent_as_it_is() -> None:
    flow = parse_mermaid_flowchart(LINE)
    flow.nodes["a"] = type(flow.nodes["a"])("a", [TextPart(text="in parts")], "task")
    rig = Rig(flow)
    await rig.run()
    assert rig.prompts[0][2] == "in parts"
    assert rig.conversation[0] == ("user", "in parts")


# The Ralph loop


async def test_a_ralph_loop_sends_the_prompt_and_goes_on_until_the_model_says_stop() -> None:
    replies = {"R1": "Begun.", "R2": [choose("CONTINUE"), choose("CONTINUE"), choose("STOP")]}
    rig = Rig(LINE, replies, runner=FlowRunner.ralph_loop("Write a poem.", 10))
    outcome = await rig.run()
    assert outcome.reason == "reached_end"
    assert outcome.path == ("BEGIN", "R1", "R2", "R2", "R2", "END")
    assert rig.prompts[0] == ("R1", 1, "Write a poem.")
    assert "- CONTINUE\n- STOP" in rig.prompts[1][2]


@pytest.mark.parametrize("rounds", [1, 2, 5])
async def test_a_ralph_loop_makes_at_most_the_rounds_that_it_may(rounds: int) -> None:
    rig = Rig(LINE, {"R2": choose("CONTINUE")}, runner=FlowRunner.ralph_loop("Go.", rounds))
    with pytest.raises(MaxStepsReached):
        await rig.run()
    assert [node for node, _, _ in rig.prompts] == ["R1"] + ["R2"] * rounds


async def test_a_ralph_loop_may_stop_in_its_last_round() -> None:
    replies = {"R2": [choose("CONTINUE"), choose("STOP")]}
    rig = Rig(LINE, replies, runner=FlowRunner.ralph_loop("Go.", 2))
    assert (await rig.run()).reason == "reached_end"


async def test_a_ralph_loop_of_minus_one_rounds_has_no_bound_that_matters() -> None:
    replies = {"R2": [choose("CONTINUE")] * 40 + [choose("STOP")]}
    rig = Rig(LINE, replies, runner=FlowRunner.ralph_loop("Go.", -1))
    assert (await rig.run()).moves == 43


async def test_a_ralph_loop_takes_a_prompt_in_parts() -> None:
    parts = [TextPart(text="in parts")]
    rig = Rig(LINE, {"R2": choose("STOP")}, runner=FlowRunner.ralph_loop(parts, 1))
    await rig.run()
    assert rig.conversation[0] == ("user", "in parts")
