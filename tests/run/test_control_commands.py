"""Breakpoints with conditions, commands on record, and the later commands of `RunControl`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowstudio.run.breakpoints import Breakpoints, parse_breakpoint
from flowstudio.run.control import RunControl
from flowstudio.run.journal import JournalWriter, read_journal
from flowstudio.run.runner import FlowRunner
from flowstudio.run.state import RunState
from flowstudio.run.watchdog import Watchdog, is_alike, stamp_folder
from flowstudio.wire import (
    ChoiceMade,
    CommandGiven,
    NodeLeft,
    RunEnded,
    RunPaused,
    RunResumed,
    StepInterrupted,
    Text,
)
from tests.run.rig import FORK, LINE, SELF_LOOP, Rig, choose


def steered(chart: str, replies: object = None, **options: object) -> Rig:
    """A rig with a user at the controls."""
    return Rig(chart, replies, interactive=True, **options)  # type: ignore[arg-type]


def pauses(rig: Rig) -> list[tuple[str | None, int | None, str]]:
    """Node, visit and message of each pause."""
    return [
        (event.node, event.visit, event.body.message)
        for event in rig.events
        if isinstance(event.body, RunPaused)
    ]


def commands(rig: Rig) -> list[tuple[str, str | None, str | None, str]]:
    """Each command on record: name, target, value, author."""
    return [(one.command, one.target, one.value, one.by) for one in rig.said_of(CommandGiven)]


# Breakpoints


async def test_a_breakpoint_holds_where_its_condition_holds_and_says_why() -> None:
    rig = steered(FORK, {"q": [choose("no")] * 3 + [choose("yes")]})
    rig.control.breakpoints.add(parse_breakpoint("a", "visit >= 3"))
    async with rig.running():
        assert await rig.paused() == ("breakpoint", "a")
        rig.control.go_on()
        assert await rig.paused() == ("breakpoint", "a")
        rig.control.go_on()
    assert pauses(rig) == [
        ("a", 3, "breakpoint before “a”: this is visit 3"),
        ("a", 4, "breakpoint before “a”: this is visit 4"),
    ]


@pytest.mark.parametrize(
    ("condition", "node", "visit", "said"),
    [
        ("after", "a", 1, "breakpoint after “a”"),
        ("choice = no", "q", 1, "breakpoint after “q”: the choice is “no”"),
        ("answer ~ third", "a", 3, "breakpoint after “a”: the answer holds “third”"),
        ("after visit = 2", "q", 2, "breakpoint after “q”: this is visit 2"),
    ],
)
async def test_a_breakpoint_after_a_node_holds_before_the_run_moves_on(
    condition: str, node: str, visit: int, said: str
) -> None:
    replies = {"a": ["first", "second", "third"], "q": [choose("no")] * 2 + [choose("yes")]}
    rig = steered(FORK, replies)
    rig.control.breakpoints.add(parse_breakpoint(node, condition))
    async with rig.running():
        await rig.paused()
        assert pauses(rig) == [(node, visit, said)]
        left = [(one.node, one.visit) for one in rig.events if isinstance(one.body, NodeLeft)]
        assert (node, visit) not in left
        rig.control.breakpoints.clear()
        rig.control.go_on()
    assert rig.said_of(RunEnded)[0].reason == "reached_end"


async def test_tokens_of_all_visits_so_far_count(tmp_path: Path) -> None:
    from tests.servers.openai_server import openai_server
    from tests.servers.scripted import say
    from tests.soul.bench import connect

    async with openai_server(say("one"), say("two")) as server:
        rig = steered(LINE, llm=await connect(server.base_url), work_dir=tmp_path)
        rig.control.breakpoints.add(parse_breakpoint("b", "after tokens >= 220"))
        rig.control.breakpoints.add(parse_breakpoint("a", "after tokens >= 220"))
        async with rig.running():
            await rig.paused()
            rig.control.go_on()
    assert pauses(rig) == [("b", 1, "breakpoint after “b”: 220 tokens are spent")]


async def test_where_the_run_stands_at_a_breakpoint_after_a_decision_another_branch_may_be_taken() -> (  # noqa: E501
    None
):
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.breakpoints.add(parse_breakpoint("q", "choice = no"))
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "yes")
    assert rig.said_of(ChoiceMade) == [ChoiceMade("yes", "user", over="no", forced=True)]


async def test_at_a_breakpoint_after_a_task_an_edited_prompt_asks_it_again() -> None:
    rig = steered(LINE, {"a": ["bad", "good"]})
    rig.control.breakpoints.add(parse_breakpoint("a", "answer ~ bad"))
    async with rig.running():
        await rig.paused()
        rig.control.replace_prompt("better words")
        rig.control.go_on()
    assert [(node, visit, prompt) for node, visit, prompt in rig.prompts][:2] == [
        ("a", 1, "first"),
        ("a", 1, "better words"),
    ]
    assert rig.said_of(NodeLeft)[1].answer == "good"


async def test_stepping_onto_a_breakpoint_after_a_node_pauses_once_for_its_answer() -> None:
    rig = steered(FORK, {"q": choose("yes")})
    rig.control.mode = "step"
    rig.control.breakpoints.add(parse_breakpoint("q", "after"))
    async with rig.running():
        for why, node in [("step", "a"), ("step", "q"), ("breakpoint", "q")]:
            assert await rig.paused() == (why, node)
            rig.control.step()


async def test_without_a_user_a_breakpoint_ends_the_run() -> None:
    rig = Rig(LINE)
    rig.control.breakpoints.add("b")
    outcome = await rig.run()
    assert (outcome.reason, outcome.path) == ("breakpoint", ("B", "a", "b"))
    assert [node for node, _, _ in rig.prompts] == ["a"]


async def test_a_breakpoint_holds_the_run_before_it_ends() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("E")
    async with rig.running():
        assert await rig.paused() == ("breakpoint", "E")
        rig.control.go_to("b")
        assert await rig.paused() == ("breakpoint", "E")
        rig.control.go_on()
    assert rig.path == ["B", "a", "b", "E", "b", "E"]


async def test_breakpoints_outlive_the_run_they_were_set_in() -> None:
    points = Breakpoints()
    rig = steered(LINE)
    rig.control.breakpoints = points
    rig.on(NodeLeft, lambda event: rig.control.toggle_breakpoint("b") if event.node == "a" else 0)
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
    assert points.nodes == {"b"}


# Commands on record


async def test_each_command_is_said_before_it_is_obeyed_with_its_author() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.run_to("q", by="script")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "no", by="script")
        await rig.paused()
        rig.control.replace_prompt("again, please")
        rig.control.set_breakpoint(parse_breakpoint("q", "choice = yes"))
        rig.control.go_on()
        await rig.paused()
        rig.control.clear_breakpoint("q")
        rig.control.go_on()
    assert commands(rig) == [
        ("run_to", "q", None, "script"),
        ("choose", "q", "no", "script"),
        ("replace_prompt", "a", "again, please", "user"),
        ("break", "q", "after choice = yes", "user"),
        ("continue", None, None, "user"),
        ("unbreak", "q", None, "user"),
        ("continue", None, None, "user"),
    ]
    assert rig.said_of(ChoiceMade)[0] == ChoiceMade("no", "script", forced=True)
    types = rig.types
    for command, effect in [("choose", "run_resumed"), ("choose", "choice_made")]:
        at = next(
            n
            for n, event in enumerate(rig.events)
            if isinstance(event.body, CommandGiven) and event.body.command == command
        )
        assert effect in types[at:]
        assert effect not in types[:at]


async def test_a_command_is_stamped_with_the_visit_that_it_met() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("b")
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
    given = [event for event in rig.events if isinstance(event.body, CommandGiven)]
    assert [(event.node, event.visit) for event in given] == [("b", 1)]


@pytest.mark.parametrize("command", ["stop", "go_to"])
async def test_a_command_that_cuts_an_answer_is_on_record_before_the_end_of_the_visit(
    command: str,
) -> None:
    rig = steered(LINE)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        if command == "stop":
            rig.control.stop()
        else:
            rig.control.go_to("E")
    types = rig.types
    ends = "run_ended" if command == "stop" else "node_left"
    last = len(types) - 1 - types[::-1].index(ends)
    assert types.index("command_given") < last
    assert commands(rig)[0][0] == command


async def test_commands_of_one_run_do_not_reach_the_record_of_the_next() -> None:
    rig = Rig(LINE)
    rig.on(RunEnded, lambda _: rig.control.pause())
    await rig.run()
    assert commands(rig) == []
    rig.control.finish()
    await rig.run()
    assert commands(rig) == []


# What was cut


PACED = "The first words of a long answer that is never finished"


@pytest.mark.parametrize("command", ["stop", "go_to"])
async def test_an_answer_that_was_cut_is_kept_and_marked(tmp_path: Path, command: str) -> None:
    rig = steered(LINE, {"a": PACED})
    writer = JournalWriter(tmp_path / "journal.jsonl")
    rig.wire.subscribe(writer, first=True)

    def cut(_: object) -> None:
        if command == "stop":
            rig.control.stop()
        elif not rig.said_of(StepInterrupted):
            rig.control.go_to("E")

    rig.on(Text, cut)
    async with rig.running():
        pass
    writer.close()
    events = read_journal(tmp_path / "journal.jsonl").events
    partial = next(e.body.partial for e in events if isinstance(e.body, StepInterrupted))
    assert partial
    assert PACED.startswith(partial)
    state = RunState()
    for event in events:
        state.apply(event)
    visit = next(one for one in state.visits if one.node == "a")
    assert (visit.answer, visit.cut) == (partial, True)
    left = [e.body for e in events if isinstance(e.body, NodeLeft) and e.node == "a"]
    if command == "go_to":
        assert [(one.answer, one.cut, one.to) for one in left] == [(partial, True, "E")]
    else:
        assert left == []


async def test_an_answer_that_came_whole_is_not_marked_as_cut() -> None:
    rig = steered(LINE)
    await rig.run()
    assert [body.cut for body in rig.said_of(NodeLeft)] == [False] * 4


# Again


async def test_again_at_an_answer_runs_the_node_once_more_and_stops_at_its_answer() -> None:
    rig = steered(FORK, {"q": [choose("no"), choose("yes")]})
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.step()
        assert await rig.paused() == ("answered", "q")
        rig.control.again()
        assert await rig.paused() == ("answered", "q")
        assert [event.visit for event in rig.events if event.type == "run_paused"] == [1, 1, 2]
        rig.control.go_on()
    assert rig.path == ["B", "a", "q", "q", "E"]
    assert rig.said_of(RunResumed)[1] == RunResumed("again")


async def test_again_before_a_node_runs_it_and_enters_it_once() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.again()
        assert await rig.paused() == ("step", "b")
        rig.control.go_on()
    assert rig.path == ["B", "a", "b", "E"]


async def test_again_while_the_answer_comes_cuts_it_and_asks_anew_past_the_breakpoint() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("a")
    rig.answers.held.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
        await rig.answers.asked("a")
        rig.control.again()
        await rig.answers.asked("a", times=2)
        rig.answers.release()
    assert rig.path == ["B", "a", "a", "b", "E"]
    assert len(pauses(rig)) == 1


async def test_again_then_elsewhere_leaves_breakpoints_as_they_are() -> None:
    rig = steered(LINE)
    rig.control.breakpoints.add("b")
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.control.again()
        rig.control.go_to("b")
        assert await rig.paused() == ("breakpoint", "b")
        rig.control.go_on()


def test_again_without_a_run_does_nothing() -> None:
    control = RunControl()
    control.again()
    assert not control.goto_asked


# More moves


async def test_at_max_moves_a_number_of_moves_may_be_allowed() -> None:
    rig = steered(SELF_LOOP, {"w": choose("not yet")}, max_moves=2)
    async with rig.running():
        assert await rig.paused() == ("max_moves", "w")
        rig.control.allow_more(1)
        assert await rig.paused() == ("max_moves", "w")
        assert rig.path == ["B", "w", "w", "w"]
        rig.control.stop()
    assert rig.said_of(RunResumed) == [RunResumed("allow_more")]
    assert commands(rig)[0] == ("allow_more", None, "1", "user")


async def test_more_moves_may_be_allowed_before_they_are_needed() -> None:
    rig = Rig(SELF_LOOP, {"w": [choose("not yet")] * 3 + [choose("yes")]}, max_moves=2)
    rig.control.allow_more(3)
    assert (await rig.run()).reason == "reached_end"


@pytest.mark.parametrize("moves", [0, -1])
def test_fewer_than_one_more_move_is_refused(moves: int) -> None:
    with pytest.raises(ValueError, match="at least one more move"):
        RunControl().allow_more(moves)


async def test_a_ralph_loop_that_is_used_up_offers_as_many_rounds_again() -> None:
    runner = FlowRunner.ralph_loop("Go. {{verbatim}} $ARGUMENTS", 2)
    runner.control.interactive = True
    rig = Rig(LINE, {"R2": [choose("CONTINUE")] * 3 + [choose("STOP")]}, runner=runner)
    async with rig.running():
        assert await rig.paused() == ("max_moves", "R2")
        rig.control.go_on()
    assert [node for node, _, _ in rig.prompts] == ["R1", "R2", "R2", "R2", "R2"]
    assert rig.prompts[0][2] == "Go. {{verbatim}} $ARGUMENTS"
    assert "was not told to stop in 2 rounds" in pauses(rig)[0][2]


# The watchdog


def watched(chart: str, replies: object, folder: Path, rounds: int = 3, **options: object) -> Rig:
    """A rig whose answers count as a model's, with a watchdog on `folder`."""
    rig = Rig(chart, replies, **options)  # type: ignore[arg-type]
    flow = rig.runner.flow
    rig.runner = FlowRunner(
        flow, name="flow", control=rig.control, watchdog=Watchdog(rounds, folder)
    )
    return rig


SAME = "The same three tests still fail, as far as I can see. <choice>no</choice>"


async def test_a_loop_without_progress_ends_a_run_without_a_user(tmp_path: Path) -> None:
    rig = watched(FORK, {"a": "I tried to mend it.", "q": SAME}, tmp_path)
    outcome = await rig.run()
    assert outcome.reason == "no_progress"
    assert outcome.path == ("B", "a", "q", "a", "q", "a")
    assert outcome.message == (
        "“a” gave nearly the same answer 3 times in a row and nothing changed in the work folder: "
        "the loop gets nowhere"
    )


async def test_a_loop_without_progress_is_held_for_its_user_who_may_let_it_go_on(
    tmp_path: Path,
) -> None:
    replies = {"w": [choose("not yet")] * 5 + [choose("yes")]}
    rig = watched(SELF_LOOP, replies, tmp_path, interactive=True)
    async with rig.running():
        assert await rig.paused() == ("no_progress", "w")
        rig.control.go_on()
        assert await rig.paused() == ("no_progress", "w")
        rig.control.choose("w", "yes")
    assert rig.choices[-1] == ("w", "yes", "user")


async def test_a_change_in_the_work_folder_is_progress(tmp_path: Path) -> None:
    rig = watched(FORK, {"a": "Mended.", "q": [SAME] * 6 + [choose("yes")]}, tmp_path)
    rig.on(
        NodeLeft,
        lambda event: (tmp_path / f"{event.visit}").touch() if event.node == "a" else None,
    )
    assert (await rig.run()).reason == "reached_end"


async def test_another_answer_of_any_node_in_the_loop_is_progress(tmp_path: Path) -> None:
    tries = [f"try {n}: " + " ".join(f"w{n}{i}" for i in range(20)) for n in range(7)]
    rig = watched(FORK, {"a": tries, "q": [SAME] * 6 + [choose("yes")]}, tmp_path)
    assert (await rig.run()).reason == "reached_end"


async def test_branches_taken_by_hand_are_not_watched(tmp_path: Path) -> None:
    rig = watched(SELF_LOOP, {}, tmp_path, rounds=2, interactive=True)
    rig.control.run_to("w")
    async with rig.running():
        for branch in ["not yet"] * 4 + ["yes"]:
            await rig.paused()
            rig.control.choose("w", branch)
    assert {why for _, _, why in pauses(rig)} == {"before “w”"}


async def test_a_rehearsal_is_not_watched(tmp_path: Path) -> None:
    rig = Rig(SELF_LOOP, {"w": [choose("not yet")] * 8 + [choose("yes")]})
    rig.runner = FlowRunner(rig.runner.flow, author="seed", watchdog=Watchdog(2, tmp_path))
    assert (await rig.run()).reason == "reached_end"


async def test_stop_is_heard_while_the_folder_is_looked_at(tmp_path: Path) -> None:
    rig = watched(SELF_LOOP, {"w": choose("not yet")}, tmp_path, rounds=50)
    rig.on(NodeLeft, lambda event: rig.control.stop() if event.visit == 3 else None)
    assert (await rig.run()).reason == "stopped"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("no", "no", True),
        ("", "x", False),
        ("yes", "no", False),
        ("Attempt 3 of the tests: 2 of 14 fail", "Attempt 4 of the tests: 2 of 14 fail", False),
        (
            "I ran the whole suite again, attempt 3, and the very same two tests fail as before",
            "I ran the whole suite again, attempt 4, and the very same two tests fail as before",
            True,
        ),
        (
            "测试仍然失败,原因和上一次完全相同,没有任何变化。" * 3,
            "测试仍然失败,原因和上次完全相同,没有任何变化。" * 3,
            True,
        ),
        ("a" * 500_000, "b" * 500_000, False),
        ("x " * 200_000 + "end", "x " * 200_000 + "fin", True),
    ],
)
def test_answers_are_alike_word_by_word(one: str, other: str, alike: bool) -> None:
    assert is_alike(one, other) is alike


def test_what_counts_as_a_change_in_the_work_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1")
    (tmp_path / ".git" / "logs").mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    seen = [stamp_folder(tmp_path, [tmp_path / "runs"])]

    def changed() -> bool:
        seen.append(stamp_folder(tmp_path, [tmp_path / "runs"]))
        return seen[-1] != seen[-2]

    assert not changed()
    (tmp_path / "src" / "a.py").write_text("12")
    assert changed()
    (tmp_path / "src" / "deep" / "er").mkdir(parents=True)
    assert changed()
    (tmp_path / "src" / "a.py").unlink()
    assert changed()
    (tmp_path / ".git" / "index").write_text("x")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "runs" / "journal.jsonl").write_text("x")
    assert not changed()
    (tmp_path / ".git" / "logs" / "HEAD").write_text("a commit")
    assert changed()


def test_a_folder_that_is_gone_or_holds_itself_does_no_harm(tmp_path: Path) -> None:
    assert stamp_folder(tmp_path / "none") == 0
    (tmp_path / "loop").symlink_to(tmp_path)
    assert stamp_folder(tmp_path) == stamp_folder(tmp_path)


async def test_a_watchdog_that_is_off_looks_at_nothing(tmp_path: Path) -> None:
    dog = Watchdog(0, tmp_path / "none")
    found = await asyncio.to_thread(lambda: [dog.look("a", "same") for _ in range(9)])
    assert found == [None] * 9


def test_a_folder_of_runs_that_is_named_relative_to_the_work_folder_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "runs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    before = stamp_folder(tmp_path, [Path("home/runs")])
    (tmp_path / "home" / "runs" / "journal.jsonl").write_text("x")
    assert stamp_folder(Path(), [Path("home/runs")]) == before
