"""Steering a run: each command of `RunControl`, at each moment at which a user may give it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run import runner as runner_module
from flowstudio.run.control import RunControl
from flowstudio.wire import (
    ChoiceMade,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunPaused,
    RunResumed,
    StatusChanged,
    StepBegan,
)
from tests.run.rig import FORK, LINE, SELF_LOOP, Rig, Said, broken, choose
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import connect

THREE = "flowchart TD\n B([BEGIN]) --> a[one] --> b[two] --> c[three] --> E([END])"
TWO_FORKS = """flowchart TD
B([BEGIN]) --> p{first?}
p -->|left| q{second?}
p -->|right| q
q -->|up| E([END])
q -->|again| p
"""


def steered(
    chart: str, replies: Mapping[str, Sequence[Said] | Said] | None = None, **options: Any
) -> Rig:
    """A rig with a user at the controls."""
    return Rig(chart, replies, interactive=True, **options)


# Step, pause, continue, breakpoints


async def test_step_runs_one_node_and_pauses_before_the_next() -> None:
    rig = steered(LINE)
    rig.control.mode = "step"
    async with rig.running():
        assert await rig.paused() == ("step", "a")
        assert rig.prompts == []
        rig.control.step()
        assert await rig.paused() == ("step", "b")
        assert [node for node, _, _ in rig.prompts] == ["a"]
        rig.control.step()
    assert rig.path == ["B", "a", "b", "E"]


async def test_continue_runs_on_to_the_end() -> None:
    rig = steered(THREE)
    rig.control.mode = "step"
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
    assert rig.said_of(RunEnded)[0].reason == "reached_end"
    assert len(rig.said_of(RunPaused)) == 1


async def test_pause_lets_the_node_that_runs_finish() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.pause()
        rig.answers.release()
        assert await rig.paused() == ("pause", "b")
        assert [event.node for event in rig.events if isinstance(event.body, NodeLeft)][-1] == "a"
        rig.control.go_on()


async def test_pause_before_the_start_holds_the_run_at_begin() -> None:
    rig = steered(LINE)
    rig.control.pause()
    async with rig.running():
        assert await rig.paused() == ("pause", "B")
        rig.control.go_on()


async def test_continue_takes_a_pause_back_that_was_not_reached_yet() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.pause()
        rig.control.go_on()
        rig.answers.release()
    assert rig.said_of(RunPaused) == []


async def test_pausing_a_paused_run_does_not_hold_it_again_later() -> None:
    rig = steered(THREE)
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.pause()
        rig.control.go_to("b")
    assert len(rig.said_of(RunPaused)) == 1


async def test_a_breakpoint_holds_the_run_before_each_visit_of_its_node() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.toggle_breakpoint("a")
    async with rig.running():
        assert await rig.paused() == ("breakpoint", "a")
        assert rig.prompts == []
        rig.control.go_on()
        assert await rig.paused() == ("breakpoint", "a")
        assert [event.visit for event in rig.events if isinstance(event.body, RunPaused)] == [1, 2]
        rig.control.go_on()


async def test_continue_leaves_the_breakpoint_that_it_stands_on() -> None:
    rig = steered(THREE)
    rig.control.breakpoints.add("a")
    rig.control.breakpoints.add("c")
    async with rig.running():
        assert await rig.paused() == ("breakpoint", "a")
        rig.control.go_on()
        assert await rig.paused() == ("breakpoint", "c")
        rig.control.go_on()


async def test_a_breakpoint_in_a_self_loop_holds_each_round() -> None:
    rig = steered(SELF_LOOP, {"w": [choose("not yet"), choose("yes")]})
    rig.control.breakpoints.add("w")
    async with rig.running():
        assert await rig.paused() == ("breakpoint", "w")
        rig.control.go_on()
        assert await rig.paused() == ("breakpoint", "w")
        rig.control.go_on()


async def test_a_breakpoint_that_is_taken_away_while_the_run_is_on_holds_no_more() -> None:
    rig = steered(THREE)
    assert rig.control.toggle_breakpoint("c")
    rig.answers.held.add("b")
    async with rig.running():
        await rig.answers.asked("b")
        assert not rig.control.toggle_breakpoint("c")
        rig.answers.release()
    assert rig.said_of(RunPaused) == []


async def test_run_to_pauses_before_that_node_once() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("no"), choose("yes")]})
    rig.control.run_to("q")
    async with rig.running():
        assert await rig.paused() == ("run_to", "q")
        rig.control.go_on()
    assert len(rig.said_of(RunPaused)) == 1


async def test_run_to_the_node_where_the_run_stands_goes_round_once() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.breakpoints.clear()
        rig.control.run_to("a")
        assert await rig.paused() == ("run_to", "a")
        assert rig.path == ["B", "a", "q", "a"]
        rig.control.go_on()


@pytest.mark.parametrize(
    ("act", "command"),
    [
        (lambda control: control.step(), "step"),
        (lambda control: control.go_on(), "continue"),
        (lambda control: control.run_to("E"), "run_to"),
        (lambda control: control.go_to("E"), "go_to"),
        (lambda control: control.choose("q", "yes"), "choose"),
    ],
)
async def test_resuming_says_by_which_command(
    act: Callable[[RunControl], None], command: str
) -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.run_to("q")
    rig.on(RunResumed, lambda _: rig.control.go_on())
    async with rig.running():
        assert await rig.paused() == ("run_to", "q")
        act(rig.control)
    assert rig.said_of(RunResumed)[0] == RunResumed(command)


async def test_a_command_given_by_whoever_hears_of_the_pause_is_not_lost() -> None:
    """A script that steers answers `run_paused` at once, before the run has begun to wait."""
    rig = steered(THREE)
    rig.control.mode = "step"
    rig.on(RunPaused, lambda _: rig.control.step())
    assert (await rig.run()).reason == "reached_end"
    assert len(rig.said_of(RunPaused)) == 3


async def test_whoever_hears_of_the_pause_sees_the_control_paused() -> None:
    rig = steered(LINE)
    rig.control.mode = "step"
    states: list[tuple[object, ...]] = []
    rig.on(
        RunPaused,
        lambda _: states.append(
            (rig.control.state, rig.control.paused_because, rig.control.paused_at)
        ),
    )
    rig.on(RunPaused, lambda _: rig.control.go_on())
    await rig.run()
    assert states == [("paused", "step", "a")]
    assert rig.control.state == "ended"


async def test_a_continue_while_the_run_is_on_does_not_pass_a_later_breakpoint() -> None:
    rig = steered(THREE)
    rig.answers.held.add("a")
    rig.control.breakpoints.add("c")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.go_on()
        rig.answers.release()
        assert await rig.paused() == ("breakpoint", "c")
        rig.control.go_on()


async def test_the_time_of_a_visit_leaves_out_the_time_it_was_held() -> None:
    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner_module, "time", clock)
        rig = steered(LINE)
        rig.control.mode = "step"
        rig.on(PromptSent, lambda _: setattr(clock, "now", clock.now + 2))
        async with rig.running():
            for _ in range(2):
                await rig.paused()
                clock.now += 600
                rig.control.step()
    assert [body.seconds for body in rig.said_of(NodeLeft)] == [0, 2, 2, 0]


# Stop


async def test_stop_cuts_the_answer_that_is_coming() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running() as task:
        await rig.answers.asked("a")
        rig.control.stop()
        outcome = await task
    assert (outcome.reason, outcome.path) == ("stopped", ("B", "a"))
    assert rig.answers.cancelled == ["a"]
    assert [event.node for event in rig.events if isinstance(event.body, NodeLeft)] == ["B"]


async def test_stop_ends_a_paused_run() -> None:
    rig = steered(LINE)
    rig.control.mode = "step"
    async with rig.running() as task:
        await rig.paused()
        rig.control.stop()
        assert (await task).reason == "stopped"
    assert rig.said_of(RunResumed) == []


async def test_stop_before_the_start_ends_the_run_at_begin() -> None:
    rig = Rig(LINE)
    rig.control.stop()
    outcome = await rig.run()
    assert (outcome.reason, outcome.path) == ("stopped", ("B",))


async def test_stop_between_two_nodes_lets_no_further_prompt_out() -> None:
    rig = Rig(LINE)
    rig.on(NodeLeft, lambda event: rig.control.stop() if event.node == "a" else None)
    assert (await rig.run()).reason == "stopped"
    assert [node for node, _, _ in rig.prompts] == ["a"]


async def test_stop_cuts_the_retries_of_a_choice() -> None:
    rig = Rig(FORK, {"q": "no tag"})
    rig.on(StepBegan, lambda event: rig.control.stop() if event.node == "q" else None)
    assert (await rig.run()).reason == "stopped"
    assert len(rig.prompts) == 2


async def test_a_stopped_run_leaves_a_conversation_that_can_go_on() -> None:
    rig = Rig(LINE)
    rig.answers.held.add("b")
    async with rig.running():
        await rig.answers.asked("b")
        rig.control.stop()
    rig.answers.release()
    await rig.soul.turn("What did you do?")
    assert [role for role, _ in rig.conversation] == ["user", "assistant"] * 3


async def test_a_runner_that_was_stopped_runs_again() -> None:
    rig = Rig(LINE)
    rig.on(NodeEntered, lambda event: rig.control.stop() if len(rig.path) == 2 else None)
    assert (await rig.run()).reason == "stopped"
    assert (await rig.run()).reason == "reached_end"


async def test_cancelling_the_task_of_a_run_cancels_the_turn_and_is_not_swallowed() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    task = asyncio.create_task(rig.run())
    await rig.answers.asked("a")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rig.answers.cancelled == ["a"]
    assert rig.control.state == "ended"


# Branches by hand


async def test_a_branch_taken_before_the_model_is_asked_sends_no_prompt() -> None:
    rig = steered(FORK)
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "yes")
    assert [node for node, _, _ in rig.prompts] == ["a"]
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "user", None, forced=True)]


async def test_after_a_branch_taken_at_a_node_the_run_pauses_before_the_next() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "no")
        assert await rig.paused() == ("step", "a")
        rig.control.breakpoints.clear()
        rig.control.go_on()
    assert rig.choices == [("q", "no", "user"), ("q", "yes", "script")]


async def test_a_branch_taken_while_the_model_answers_counts_and_keeps_what_it_had_said() -> None:
    rig = steered(FORK, {"q": choose("no")})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.control.choose("q", "yes")
        rig.answers.release()
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "user", over="no", forced=True)]
    assert rig.path == ["B", "a", "q", "E"]


async def test_a_branch_taken_while_the_model_answers_nonsense_ends_the_retries() -> None:
    rig = steered(FORK, {"q": "<choice>perhaps</choice>"})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.control.choose("q", "yes")
        rig.answers.release()
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "user", over="perhaps", forced=True)]
    assert len(rig.prompts) == 2


async def test_a_branch_that_the_model_chose_itself_was_not_forced() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.control.choose("q", "yes")
        rig.answers.release()
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "script")]


async def test_an_answer_is_shown_before_it_counts_where_the_user_steps() -> None:
    rig = steered(FORK, {"q": choose("no")})
    rig.control.run_to("q")
    async with rig.running():
        await rig.paused()
        rig.control.step()
        assert await rig.paused() == ("answered", "q")
        rig.control.choose("q", "yes")
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "user", over="no", forced=True)]
    assert rig.path == ["B", "a", "q", "E"]


async def test_stepping_on_from_an_answer_takes_the_model_at_its_word() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.run_to("q")
    async with rig.running():
        await rig.paused()
        rig.control.step()
        assert await rig.paused() == ("answered", "q")
        rig.control.step()
        assert await rig.paused() == ("step", "a")
        rig.control.go_on()
    assert rig.choices[0] == ("q", "no", "script")


async def test_a_branch_taken_by_hand_counts_for_one_visit() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.choose("q", "no")
    async with rig.running():
        pass
    assert rig.choices == [("q", "no", "user"), ("q", "yes", "script")]


async def test_a_branch_taken_for_another_node_waits_until_the_run_is_there() -> None:
    """The choice is not for where the run stands, so it does not set it going."""
    rig = steered(TWO_FORKS, {"p": choose("left"), "q": choose("again")})
    rig.control.breakpoints.add("p")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "up")
        assert rig.control.is_waiting
        assert rig.control.forced_at("q") == "up"
        rig.control.go_on()
    assert rig.choices == [("p", "left", "script"), ("q", "up", "user")]


async def test_a_branch_that_was_taken_back_is_the_models_again() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.choose("q", "no")
    rig.control.unforce("q")
    async with rig.running():
        pass
    assert rig.choices == [("q", "yes", "script")]


async def test_a_branch_for_a_visit_that_was_left_by_a_jump_is_not_taken_later() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.control.choose("q", "no")
        rig.control.go_to("a")
        await rig.answers.asked("q", times=2)
        rig.answers.release()
    assert rig.choices == [("q", "yes", "script")]


# Jumps


async def test_go_to_cuts_the_answer_that_is_coming_and_goes_on_there() -> None:
    rig = steered(THREE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.go_to("c")
    assert rig.path == ["B", "a", "c", "E"]
    assert rig.answers.cancelled == ["a"]
    left = [event.body for event in rig.events if isinstance(event.body, NodeLeft)][1]
    assert (left.to, left.by) == ("c", "user")


async def test_go_to_from_a_pause_leaves_the_node_without_asking_it() -> None:
    rig = steered(THREE)
    rig.control.breakpoints.add("b")
    async with rig.running():
        await rig.paused()
        rig.control.go_to("a")
        assert await rig.paused() == ("breakpoint", "b")
        rig.control.go_on()
    assert [node for node, _, _ in rig.prompts] == ["a", "a", "b", "c"]


async def test_go_to_the_node_where_the_run_stands_runs_it_again() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.go_to("a")
        await rig.answers.asked("a", times=2)
        rig.answers.release()
    assert rig.path == ["B", "a", "a", "b", "E"]


async def test_go_to_between_two_waits_is_followed_at_once_and_not_at_a_later_pause() -> None:
    """The turn was over and the next had not begun: there was nothing to cut."""
    rig = steered(THREE)
    rig.on(
        NodeEntered,
        lambda event: rig.control.go_to("c") if event.node == "b" and event.visit == 1 else None,
    )
    assert (await rig.run()).path == ("B", "a", "b", "c", "E")
    assert [node for node, _, _ in rig.prompts] == ["a", "c"]


async def test_go_to_when_the_last_piece_of_an_answer_came_keeps_the_answer_on_record() -> None:
    rig = steered(THREE, {"a": "All said."})
    rig.on(
        StatusChanged,
        lambda event: rig.control.go_to("c") if event.node == "a" else None,
    )
    assert (await rig.run()).path == ("B", "a", "c", "E")


async def test_go_to_a_node_that_does_not_exist_asks_again_where_to_go_on() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.go_to("nowhere")
        assert (await rig.paused())[0] == "node_gone"
        rig.control.go_on()
        assert (await rig.paused())[0] == "node_gone"
        rig.control.go_to("b")
    assert rig.path == ["B", "a", "b", "E"]


# Prompts


async def test_a_replaced_prompt_is_sent_once_in_place_of_the_label() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.replace_prompt("work, but slowly")
        rig.control.go_on()
        await rig.paused()
        rig.control.go_on()
    asked = [prompt for node, _, prompt in rig.prompts if node == "a"]
    assert asked == ["work, but slowly", "work"]


async def test_a_replaced_prompt_of_a_decision_still_lists_the_branches() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.replace_prompt("good enough?")
        rig.control.go_on()
    assert rig.prompts[-1][2].startswith("good enough?\n\nAvailable branches:")


async def test_a_replaced_prompt_takes_the_input() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("a")
    async with rig.running("the bug"):
        await rig.paused()
        rig.control.replace_prompt("look at $ARGUMENTS")
        rig.control.go_on()
    assert "look at the bug" in rig.prompts[0][2]


async def test_a_prompt_replaced_after_the_answer_asks_the_node_again() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.run_to("q")
    async with rig.running():
        await rig.paused()
        rig.control.step()
        assert await rig.paused() == ("answered", "q")
        rig.control.replace_prompt("good enough for today?")
        rig.control.step()
        assert await rig.paused() == ("answered", "q")
        rig.control.go_on()
    assert rig.prompts[-1][2].startswith("good enough for today?\n\nAvailable branches:")
    assert rig.choices == [("q", "yes", "script")]


@pytest.mark.parametrize("leave", ["choose", "jump"])
async def test_a_replaced_prompt_that_was_never_sent_does_not_reach_another_node(
    leave: str,
) -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.breakpoints.clear()
        rig.control.replace_prompt("only for q")
        if leave == "choose":
            rig.control.choose("q", "no")
            await rig.paused()
            rig.control.go_on()
        else:
            rig.control.go_to("a")
    assert all("only for q" not in prompt for _, _, prompt in rig.prompts)


async def test_a_prompt_replaced_while_a_node_runs_is_the_next_nodes() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.replace_prompt("another")
        rig.answers.release()
    assert [prompt for _, _, prompt in rig.prompts] == ["first", "another"]


# What goes wrong, with somebody there


async def test_a_failing_model_pauses_the_run_and_continue_asks_again() -> None:
    rig = steered(LINE, {"b": [broken("the line is dead"), "Second try."]})
    async with rig.running():
        assert await rig.paused() == ("model_failed", "b")
        assert rig.said_of(RunPaused)[0].message == "the line is dead"
        rig.control.go_on()
    assert rig.said_of(RunEnded)[0].reason == "reached_end"
    assert rig.conversation[2:] == [("user", "second"), ("assistant", "Second try.")]


async def test_a_choice_that_failed_in_its_retry_leaves_no_trace_either() -> None:
    rig = steered(FORK, {"q": ["no tag", broken(), choose("yes")]})
    async with rig.running():
        assert await rig.paused() == ("model_failed", "q")
        assert [text for _, text in rig.conversation] == ["work", "Done."]
        rig.control.go_on()
    assert [body.attempt for body in rig.said_of(PromptSent)] == [1, 1, 2, 1]


async def test_a_branch_may_be_taken_where_the_model_failed() -> None:
    rig = steered(FORK, {"q": broken()})
    async with rig.running():
        assert await rig.paused() == ("model_failed", "q")
        rig.control.choose("q", "yes")
    assert rig.choices == [("q", "yes", "user")]


async def test_a_failed_call_is_made_again_with_the_replaced_prompt() -> None:
    rig = steered(LINE, {"a": [broken(), "Better."]})
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.replace_prompt("my words")
        rig.control.go_on()
        assert await rig.paused() == ("model_failed", "a")
        rig.control.go_on()
    assert [prompt for node, _, prompt in rig.prompts if node == "a"] == ["my words", "my words"]


async def test_a_failed_call_is_made_again_with_the_request() -> None:
    rig = steered(LINE, {"a": [broken(), "Better."]})
    async with rig.running("Be quick."):
        await rig.paused()
        rig.control.go_on()
    assert [prompt for node, _, prompt in rig.prompts if node == "a"] == ["Be quick.\n\nfirst"] * 2
    assert rig.prompts[-1][2] == "second"


async def test_another_model_may_answer_after_one_that_failed() -> None:
    async with openai_server(say("From the other one."), say("Done.")) as server:
        rig = steered(LINE, {"a": broken()})
        async with rig.running():
            await rig.paused()
            rig.soul.set_model(await connect(server.base_url))
            rig.control.go_on()
    assert ("assistant", "From the other one.") in rig.conversation


async def test_after_all_retries_of_a_choice_the_user_is_asked() -> None:
    rig = steered(FORK, {"q": "<choice>maybe</choice>"}, max_choice_retries=1)
    async with rig.running():
        assert await rig.paused() == ("choice_failed", "q")
        assert "answered “maybe” 2 times" in rig.said_of(RunPaused)[0].message
        rig.control.choose("q", "yes")
    assert rig.choices == [("q", "yes", "user")]


async def test_continue_after_a_failed_choice_asks_the_model_anew() -> None:
    rig = steered(FORK, {"q": ["?", "?", choose("yes")]}, max_choice_retries=1)
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
    assert rig.choices == [("q", "yes", "script")]


async def test_a_branch_that_does_not_exist_is_refused_by_name() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.choose("q", "sideways")
    async with rig.running():
        assert await rig.paused() == ("choice_failed", "q")
        assert "“sideways”" in rig.said_of(RunPaused)[0].message
        rig.control.go_on()
    assert rig.choices == [("q", "yes", "script")]


async def test_a_turn_that_used_up_its_steps_is_gone_on_from_and_not_forgotten(
    tmp_path: Path,
) -> None:
    look = use(Call("Glob", {"pattern": "*"}))
    async with openai_server(look, look, say("Now I know."), say("Done.")) as server:
        llm = await connect(server.base_url)
        rig = steered(LINE, llm=llm, tools=["Glob"], work_dir=tmp_path, max_steps=2)
        async with rig.running():
            assert await rig.paused() == ("model_failed", "a")
            assert rig.said_of(RunPaused)[0].message.startswith("The turn made 2 calls")
            rig.control.go_on()
    assert [role for role, _ in rig.conversation].count("tool") == 2


async def test_at_max_moves_the_user_is_offered_as_many_again() -> None:
    rig = steered(SELF_LOOP, {"w": [choose("not yet")] * 7 + [choose("yes")]}, max_moves=4)
    async with rig.running():
        assert await rig.paused() == ("max_moves", "w")
        assert len(rig.path) - 1 == 4
        assert "4 moves" in rig.said_of(RunPaused)[0].message
        rig.control.go_on()
        assert await rig.paused() == ("max_moves", "w")
        assert len(rig.path) - 1 == 8
        rig.control.go_on()
    assert rig.said_of(RunEnded)[0].reason == "reached_end"


async def test_a_step_at_max_moves_pauses_before_the_next_node_and_not_twice_at_this_one() -> None:
    rig = steered(THREE, max_moves=2)
    async with rig.running():
        assert await rig.paused() == ("max_moves", "b")
        rig.control.step()
        assert await rig.paused() == ("step", "c")
        rig.control.go_on()


async def test_a_branch_taken_at_max_moves_is_taken_at_the_node_that_is_next() -> None:
    rig = steered(SELF_LOOP, {"w": choose("not yet")}, max_moves=3)
    async with rig.running():
        assert await rig.paused() == ("max_moves", "w")
        rig.control.choose("w", "yes")
    assert rig.path == ["B", "w", "w", "w", "E"]
    assert rig.choices[-1] == ("w", "yes", "user")


async def test_a_refused_tool_pauses_the_run_and_continue_asks_the_node_again(
    tmp_path: Path,
) -> None:
    write = use(Call("WriteFile", {"path": "x.txt", "content": "x"}))
    async with openai_server(write, say("Without it then."), say("Done.")) as server:
        llm = await connect(server.base_url)
        rig = steered(LINE, llm=llm, tools=["WriteFile"], work_dir=tmp_path)
        async with rig.running():
            assert await rig.paused() == ("tool_rejected", "a")
            rig.control.go_on()
    assert [node for node, _, _ in rig.prompts] == ["a", "a", "b"]
    assert rig.said_of(RunEnded)[0].reason == "reached_end"


# Reloads


async def test_a_visit_in_flight_finishes_with_the_prompt_it_started_with() -> None:
    rig = steered(FORK, {"q": ["no tag", choose("yes")]})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.runner.reload(parse_mermaid_flowchart(FORK.replace("good?", "excellent?")))
        rig.answers.release()
    asked = [prompt for node, _, prompt in rig.prompts if node == "q"]
    assert len(asked) == 2
    assert all(prompt.startswith("good?") for prompt in asked)


async def test_the_next_move_uses_the_new_flow() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        body = rig.runner.reload(
            parse_mermaid_flowchart(
                "flowchart TD\n B([BEGIN]) --> a[first] --> n[new] --> b[changed] --> E([END])"
            )
        )
        rig.answers.release()
    assert (body.revision, body.added, body.removed, body.changed) == (2, ("n",), (), ("b",))
    assert [prompt for _, _, prompt in rig.prompts] == ["first", "new", "changed"]
    assert [one.revision for one in rig.said_of(NodeEntered)] == [1, 1, 2, 2, 2]


async def test_a_reload_while_paused_before_a_node_sends_the_new_prompt() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("b")
    async with rig.running():
        await rig.paused()
        rig.runner.reload(parse_mermaid_flowchart(LINE.replace("second", "the second, better")))
        rig.control.go_on()
    assert rig.prompts[-1][2] == "the second, better"
    assert [body.revision for body in rig.said_of(NodeLeft)] == [1, 1, 2, 2]


async def test_the_record_of_a_visit_names_the_revision_whose_prompt_was_sent() -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.runner.reload(parse_mermaid_flowchart(LINE.replace("first", "1st")))
        rig.answers.release()
    left = {event.node: event.body for event in rig.events if isinstance(event.body, NodeLeft)}
    assert [left[node].revision for node in "Bab"] == [1, 1, 2]


async def test_a_reload_while_paused_may_make_a_task_a_decision() -> None:
    rig = steered(LINE, {"b": choose("no")})
    rig.control.breakpoints.add("b")
    async with rig.running():
        await rig.paused()
        rig.runner.reload(
            parse_mermaid_flowchart(
                "flowchart TD\n B([BEGIN]) --> a[x] --> b[sure?]\n b -->|yes| E([END])\n"
                " b -->|no| E"
            )
        )
        rig.control.go_on()
    assert rig.choices == [("b", "no", "script")]


@pytest.mark.parametrize("at", ["in flight", "paused"])
async def test_where_the_current_node_is_gone_the_run_pauses_and_asks_where_to_go_on(
    at: str,
) -> None:
    rig = steered(THREE)
    without_b = parse_mermaid_flowchart("flowchart TD\n B([BEGIN]) --> a --> c[three] --> E([END])")
    if at == "in flight":
        rig.answers.held.add("b")
    else:
        rig.control.breakpoints.add("b")
    async with rig.running():
        if at == "in flight":
            await rig.answers.asked("b")
            rig.runner.reload(without_b)
            rig.answers.release()
        else:
            await rig.paused()
            rig.runner.reload(without_b)
            rig.control.go_on()
        assert await rig.paused() == ("node_gone", "b")
        rig.control.go_on()
        assert await rig.paused() == ("node_gone", "b")
        rig.control.go_to("c")
    assert rig.path == ["B", "a", "b", "c", "E"]
    assert rig.said_of(RunEnded)[0].reason == "reached_end"


async def test_a_node_that_comes_back_is_gone_on_from() -> None:
    rig = steered(THREE)
    rig.answers.held.add("b")
    async with rig.running():
        await rig.answers.asked("b")
        rig.runner.reload(parse_mermaid_flowchart("flowchart TD\n B([BEGIN]) --> c --> E([END])"))
        rig.answers.release()
        assert await rig.paused() == ("node_gone", "b")
        rig.runner.reload(parse_mermaid_flowchart(THREE))
        rig.control.go_on()
    assert rig.path == ["B", "a", "b", "c", "E"]


async def test_where_the_chosen_branch_is_gone_the_run_pauses_and_can_ask_again() -> None:
    rig = steered(FORK, {"q": [choose("yes"), choose("ship it")]})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.runner.reload(parse_mermaid_flowchart(FORK.replace("|yes|", "|ship it|")))
        rig.answers.release()
        assert await rig.paused() == ("choice_failed", "q")
        assert "“yes”" in rig.said_of(RunPaused)[0].message
        rig.control.go_on()
    assert rig.choices == [("q", "ship it", "script")]


async def test_a_decision_that_became_a_task_takes_its_only_exit() -> None:
    rig = steered(FORK, {"q": choose("no")})
    rig.answers.held.add("q")
    async with rig.running():
        await rig.answers.asked("q")
        rig.control.choose("q", "no")
        rig.runner.reload(
            parse_mermaid_flowchart("flowchart TD\n B([BEGIN]) --> a --> q --> E([END])")
        )
        rig.answers.release()
    assert rig.path == ["B", "a", "q", "E"]
    assert rig.choices == []


async def test_a_task_that_became_a_decision_in_flight_is_asked_for_its_branch() -> None:
    rig = steered(LINE, {"a": ["Done.", choose("yes")]})
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.runner.reload(
            parse_mermaid_flowchart(
                "flowchart TD\n B([BEGIN]) --> a[sure?]\n a -->|yes| E([END])\n a -->|no| E"
            )
        )
        rig.answers.release()
        assert await rig.paused() == ("choice_failed", "a")
        rig.control.go_on()
    assert rig.choices == [("a", "yes", "script")]


async def test_a_node_that_became_end_while_it_was_asked_ends_the_run_well() -> None:
    rig = steered(LINE)
    rig.answers.held.add("b")
    async with rig.running():
        await rig.answers.asked("b")
        rig.runner.reload(parse_mermaid_flowchart("flowchart TD\n B([BEGIN]) --> a --> b([END])"))
        rig.answers.release()
    assert rig.said_of(RunEnded)[0].reason == "reached_end"


# The user's words


async def test_the_user_talks_with_the_agent_between_two_nodes_in_the_same_conversation() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("b")
    async with rig.running():
        await rig.paused()
        await rig.soul.turn("Mind the tests.")
        rig.control.go_on()
    assert [text for role, text in rig.conversation if role == "user"] == [
        "first",
        "Mind the tests.",
        "second",
    ]
