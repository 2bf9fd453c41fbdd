"""Hot reload by the written rule, for each kind of edit at each moment of a visit.

The visit in flight finishes with the prompt it started with, the next move uses the new flow, a
node that is gone holds the run, and the record names the revision of each visit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.wire import NodeEntered, NodeLeft, RunEnded, RunPaused, StepBegan, Text
from tests.run.rig import Rig, choose

OLD = """flowchart TD
B([BEGIN]) --> a[old a] --> q{old q?}
q -->|yes| z[old z] --> E([END])
q -->|no| a
"""
EDITS = {
    "words": OLD.replace("old", "new"),
    "node gone": """flowchart TD
B([BEGIN]) --> a[new a] --> z[new z] --> E([END])
""",
    "branch renamed": OLD.replace("old", "new").replace("|yes|", "|done|"),
    "decision made a task": """flowchart TD
B([BEGIN]) --> a[new a] --> q[new q] --> z[new z] --> E([END])
""",
    "node put between": OLD.replace("old", "new").replace("|yes| z", "|yes| y[new y] --> z"),
}

type Moment = Callable[[Rig, Callable[[], None]], None]


def on_event(kind: type, node: str, *, first: bool = True) -> Moment:
    """Reload as soon as such an event is heard at `node`, from inside the wire."""

    def prepare(rig: Rig, reload: Callable[[], None]) -> None:
        done: list[bool] = []

        def consume(event: object) -> None:
            if getattr(event, "node", None) == node and not (first and done):
                done.append(True)
                reload()

        rig.on(kind, consume)

    return prepare


def at_pause(prepare: Callable[[Rig], object]) -> Moment:
    """Reload while the run is held, then continue."""

    def act(rig: Rig, reload: Callable[[], None]) -> None:
        prepare(rig)
        done: list[bool] = []

        def consume(_: object) -> None:
            if not done:
                done.append(True)
                reload()

        rig.on(RunPaused, consume)

    return act


BEFORE_ASKING: dict[str, Moment] = {
    "when it is entered": on_event(NodeEntered, "q"),
    "held before it": at_pause(lambda rig: rig.control.breakpoints.add("q")),
    "when the one before it is left": on_event(NodeLeft, "a"),
}
WHILE_IT_IS_ASKED: dict[str, Moment] = {
    "when the call begins": on_event(StepBegan, "q"),
    "in the middle of the answer": on_event(Text, "q"),
    "at a breakpoint after it": at_pause(
        lambda rig: rig.control.breakpoints.add(parse_breakpoint("q", "after"))
    ),
}
MOMENTS = BEFORE_ASKING | WHILE_IT_IS_ASKED


async def run_edited(edit: str, prepare: Moment) -> Rig:
    """A run that is edited once; whoever hears of a pause helps the run on to its end."""
    rig = Rig(OLD, {"q": [choose("yes"), choose("done"), choose("done")]}, interactive=True)
    flow = parse_mermaid_flowchart(EDITS[edit])
    prepare(rig, lambda: rig.wire.emit(rig.runner.reload(flow)) and None)

    def help_on(event: object) -> None:
        why = rig.said_of(RunPaused)[-1].why
        if why == "node_gone":
            rig.control.go_to("z")
        else:
            rig.control.breakpoints.clear()
            rig.control.go_on()

    rig.on(RunPaused, help_on)
    async with asyncio.timeout(20):
        await rig.run()
    return rig


def sent(rig: Rig, node: str) -> list[str]:
    return [prompt.splitlines()[0] for at, _, prompt in rig.prompts if at == node]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("edit", EDITS)
async def test_any_edit_at_any_moment_leaves_a_run_that_reaches_its_end(
    edit: str, moment: str
) -> None:
    rig = await run_edited(edit, MOMENTS[moment])
    assert rig.said_of(RunEnded)[-1].reason == "reached_end"
    assert sent(rig, "a") == ["old a"]
    assert sent(rig, "z") == ["new z"]


@pytest.mark.parametrize("moment", BEFORE_ASKING)
@pytest.mark.parametrize("edit", ["words", "branch renamed", "decision made a task"])
async def test_a_node_that_was_not_asked_yet_is_asked_in_the_new_words(
    edit: str, moment: str
) -> None:
    rig = await run_edited(edit, MOMENTS[moment])
    assert set(sent(rig, "q")) == {"new q?" if edit != "decision made a task" else "new q"}


@pytest.mark.parametrize("moment", WHILE_IT_IS_ASKED)
@pytest.mark.parametrize("edit", EDITS)
async def test_the_visit_in_flight_finishes_with_the_prompt_it_started_with(
    edit: str, moment: str
) -> None:
    rig = await run_edited(edit, MOMENTS[moment])
    assert sent(rig, "q")[0] == "old q?"
    # Asked anew in the new words only where what it had chosen is no longer drawn.
    assert len(sent(rig, "q")) == (2 if edit == "branch renamed" else 1)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_the_next_move_follows_the_new_flow(moment: str) -> None:
    rig = await run_edited("node put between", MOMENTS[moment])
    assert rig.path == ["B", "a", "q", "y", "z", "E"]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_node_that_is_gone_holds_the_run_and_asks_where_to_go_on(moment: str) -> None:
    rig = await run_edited("node gone", MOMENTS[moment])
    gone = [body.message for body in rig.said_of(RunPaused) if body.why == "node_gone"]
    assert gone == ["“q” is no longer in the flow: pick the node to go on from"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("edit", EDITS)
async def test_the_record_names_the_revision_whose_prompt_each_visit_sent(
    edit: str, moment: str
) -> None:
    rig = await run_edited(edit, MOMENTS[moment])
    revisions = {
        event.node: event.body.revision for event in rig.events if isinstance(event.body, NodeLeft)
    }
    assert revisions["a"] == 1
    assert revisions["z"] == revisions["E"] == 2
    if sent(rig, "q"):
        assert revisions["q"] == (1 if sent(rig, "q")[-1] == "old q?" else 2)


async def test_of_several_edits_in_a_row_the_last_counts() -> None:
    rig = Rig(OLD, {"q": choose("yes")})
    flows = [parse_mermaid_flowchart(EDITS[name]) for name in EDITS]
    rig.on(
        NodeEntered,
        lambda event: [rig.runner.reload(flow) for flow in flows] if event.node == "a" else None,
    )
    assert (await rig.run()).path == ("B", "a", "q", "y", "z", "E")
    assert sent(rig, "a") == ["new a"]
    assert rig.runner.revision == 1 + len(flows)


async def test_an_edit_while_a_choice_is_asked_again_keeps_the_branches_it_was_asked_with() -> None:
    rig = Rig(OLD, {"q": ["no tag", choose("yes")]}, interactive=True)
    renamed = parse_mermaid_flowchart(EDITS["branch renamed"])
    rig.on(
        StepBegan,
        lambda event: (
            rig.runner.reload(renamed) if event.node == "q" and rig.runner.revision == 1 else None
        ),
    )
    async with rig.running():
        why, node = await rig.paused()
        assert (why, node) == ("choice_failed", "q")
        assert rig.said_of(RunPaused)[0].message == "“q” no longer has a branch “yes”"
        rig.control.choose("q", "done")
    prompts = [prompt for node, _, prompt in rig.prompts if node == "q"]
    assert len(prompts) == 2
    assert all("- yes" in prompt and "- done" not in prompt for prompt in prompts)
    assert rig.path[-2:] == ["z", "E"]
