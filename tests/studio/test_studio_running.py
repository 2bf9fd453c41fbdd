"""Running, stepping, pausing and stopping a flow by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.wire import PromptSent
from tests.studio.kit import DEMO, Endless, FakeModel, Held, choose, open_studio, write_skill

SCRIPT = """\
default_task_reply: A draft.
decisions:
- {node: good, visit: 1, replies: [{text: "<choice>no</choice>"}]}
- {node: good, visit: 2, replies: [{text: "<choice>yes</choice>"}]}
"""

ROUND = ["BEGIN", "write", "good", "mend", "good", "END"]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


# Running


async def test_r_runs_the_flow_to_its_end(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.press("r")
        await studio.ended()
        assert studio.path == ROUND
        assert [by for _, by, _ in studio.choices] == ["script", "script"]
        await studio.until(lambda: "✓ done" in studio.lines[0], "the end in the top line")


async def test_r_again_refuses_while_a_run_is_on(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.begin()
        await studio.press("r")
        assert any("a run is on already" in said for said in studio.toasts)


async def test_a_second_run_begins_with_clean_marks(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.begin()
        assert studio.state is not None
        assert [visit.node for visit in studio.state.visits] == ["BEGIN", "write"]
        assert set(studio.view.marks.nodes) == {"BEGIN", "write"}


async def test_visited_nodes_taken_edges_and_the_current_node_are_marked(
    work: Path, script: Path
) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.press("n", "n", "n")
        await studio.until(lambda: studio.current == "good", "the decision")
        await studio.press("c")
        await studio.ended()
        marks = studio.view.marks
        assert marks.nodes == dict.fromkeys(["BEGIN", "write", "good", "mend", "END"], "done")
        assert marks.tags["good"] == "✓2"
        assert set(marks.edges.values()) == {"done"}


async def test_a_run_in_the_chat_tells_nodes_answers_and_choices_apart(
    work: Path, script: Path
) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.press("r")
        await studio.ended()
        lines = [line.strip() for line in studio.chat_text.splitlines()]
        assert "write  Write a first draft" in lines
        assert "A draft." in lines
        assert any(line.startswith("→ no") and "script" in line for line in lines)
        assert any(line.startswith("◆ good  visit 2") for line in lines)
        assert any(line.startswith("✓") and "END" in line for line in lines)


async def test_the_timeline_lists_every_visit_in_order(work: Path, script: Path) -> None:
    async with open_studio(work, script=script, size=(160, 45)) as studio:
        await studio.press("r")
        await studio.ended()
        names = "BEGIN✓ ─ write✓ ─ good→no ─ mend✓ ─ good→yes ─ END✓"
        await studio.until(lambda: names in studio.text, "all visits")


# Stepping


async def test_n_begins_a_run_that_waits_before_its_first_prompt(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.begin()
        assert studio.path == ["BEGIN", "write"]
        assert studio.said(PromptSent) == []
        assert studio.view.marks.flags["write"] == "⏸"
        assert "⏸ paused" in studio.chat_text


async def test_n_runs_one_node_at_a_time(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        assert studio.path == ["BEGIN", "write", "good"]


async def test_while_stepping_an_answer_to_a_decision_is_shown_before_it_counts(
    work: Path, script: Path
) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("n")
        await studio.until(
            lambda: studio.state is not None and studio.state.reason == "answered", "the answer"
        )
        assert studio.choices == []
        await studio.press("n")
        await studio.paused_at("mend")
        assert studio.choices == [("no", "script", False)]


async def test_c_goes_on_from_a_pause_to_the_end(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        await studio.press("c")
        await studio.ended()


async def test_c_without_a_run_runs(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.press("c")
        await studio.ended()


# Pausing and stopping


async def test_p_pauses_once_the_node_that_runs_is_done(work: Path) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("p")
        assert studio.phase == "running"
        held.gate.set()
        await studio.paused_at("good")
        assert studio.said(PromptSent)[-1].prompt.startswith("Write a first draft")


async def test_s_cuts_a_stream_that_is_coming(work: Path) -> None:
    held = Held("never")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("s")
        await studio.ended("stopped")
        assert "never" not in studio.chat_text


async def test_s_ends_a_paused_run(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.begin()
        await studio.press("s")
        await studio.ended("stopped")
        assert studio.main.driver.control is None


async def test_s_stops_a_model_that_answers_forever_and_keys_count_meanwhile(work: Path) -> None:
    async with open_studio(work, model=FakeModel(write=Endless())) as studio:
        await studio.press("r")
        await studio.until(lambda: "and on and on" in studio.text, "the stream on the screen")
        await studio.select("mend")
        assert "Mend what is bad" in studio.detail
        await studio.press("s")
        await studio.ended("stopped")


@pytest.mark.parametrize("key", ["p", "s", "t", "J"])
async def test_a_command_without_a_run_says_how_to_begin_one(work: Path, key: str) -> None:
    async with open_studio(work) as studio:
        await studio.select("write")
        await studio.press(key)
        assert studio.toasts == ["no run is on: r runs the flow, n steps through it"]


async def test_what_a_pause_offers_goes_when_the_run_goes_on(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        assert "sends it, then pauses" in studio.chat_text
        await studio.press("c")
        await studio.ended()
        assert "sends it, then pauses" not in studio.chat_text


# Breakpoints


async def test_b_sets_a_breakpoint_with_its_own_glyph_and_clears_it(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.select("mend")
        await studio.press("b")
        assert studio.view.marks.breakpoints == {"mend"}
        await studio.pilot.pause()
        assert "●" in studio.text
        await studio.press("b")
        assert studio.view.marks.breakpoints == frozenset()


async def test_b_without_a_selection_says_what_to_do(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("b")
        assert any("select a node first" in said for said in studio.toasts)


async def test_c_stops_before_a_breakpoint_and_leaves_it(work: Path) -> None:
    replies = [choose("no"), choose("no"), choose("yes")]
    async with open_studio(work, model=FakeModel(good=replies)) as studio:
        await studio.select("mend")
        await studio.press("b", "r")
        await studio.paused_at("mend")
        assert studio.state is not None
        assert studio.state.reason == "breakpoint"
        await studio.press("c")
        await studio.until(lambda: studio.path.count("mend") == 2, "the second visit")
        await studio.paused_at("mend")
        await studio.press("c")
        await studio.ended()


async def test_a_breakpoint_outlives_the_run(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.select("mend")
        await studio.press("b")
        for _ in range(2):
            studio.events.clear()
            await studio.press("r")
            await studio.paused_at("mend")
            await studio.press("s")
            await studio.ended("stopped")


async def test_t_continues_to_the_selected_node_and_pauses_before_it(
    work: Path, script: Path
) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        await studio.select("mend")
        await studio.press("t")
        await studio.paused_at("mend")
        assert studio.path == ["BEGIN", "write", "good", "mend"]


# Going elsewhere


async def test_capital_j_goes_on_from_the_selected_node(work: Path, script: Path) -> None:
    async with open_studio(work, script=script) as studio:
        await studio.begin()
        await studio.select("mend")
        await studio.press("J")
        await studio.paused_at("mend")
        assert studio.path == ["BEGIN", "write", "mend"]
        # What was left out does not look done, and the jump looks like one.
        await studio.until(lambda: "write⇢mend ─ ⏸ mend" in studio.text, "the jump")
        assert studio.state is not None
        assert set(studio.state.done) == {"BEGIN"}


async def test_capital_j_cuts_a_stream_that_is_coming(work: Path) -> None:
    held = Held("never")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.select("mend")
        await studio.press("J")
        await studio.ended()
        assert studio.path == ["BEGIN", "write", "mend", "good", "END"]


async def test_a_full_stop_runs_the_node_again(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("full_stop")
        await studio.until(
            lambda: studio.state is not None and studio.state.reason == "answered", "the answer"
        )
        await studio.press("full_stop")
        await studio.until(lambda: studio.path.count("good") == 2, "the node once more")


# Editing what is sent


async def test_e_edits_the_prompt_of_this_visit_alone(work: Path) -> None:
    model = FakeModel(good=[choose("no"), choose("yes")])
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("e")
        await studio.until(lambda: "Prompt of" in studio.text, "the editor")
        await studio.press("home", *"Shortly: ")
        await studio.press("ctrl+s")
        await studio.press("c")
        await studio.ended()
        assert model.asked[0] == ("write", "Shortly: Write a first draft")
        assert (work / ".agents/skills/demo/SKILL.md").read_text(encoding="utf-8") == DEMO


async def test_escape_leaves_the_prompt_as_it_was(work: Path) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("e", *"XX", "escape", "c")
        await studio.ended()
        assert model.asked[0] == ("write", "Write a first draft")


async def test_e_says_when_there_is_no_prompt_to_edit(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("e")
        assert any("pause first" in said for said in studio.toasts)


async def test_capital_e_opens_the_file_in_the_users_editor(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    async with open_studio(work) as studio:
        await studio.press("E")
        # Without a terminal the studio cannot step aside; with one, the editor is missing: both
        # are said.
        assert studio.toasts


# The flow's input


async def test_a_flow_that_takes_an_input_asks_for_it(work: Path) -> None:
    write_skill(work, DEMO.replace("Write a first draft", "Write about $ARGUMENTS"))
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(lambda: "takes an input" in studio.text, "the question")
        await studio.press(*"cats", "enter")
        await studio.ended()
        assert model.asked[0] == ("write", "Write about cats")


async def test_escape_at_the_input_does_not_run(work: Path) -> None:
    write_skill(work, DEMO.replace("Write a first draft", "Write about $ARGUMENTS"))
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.until(lambda: "takes an input" in studio.text, "the question")
        await studio.press("escape")
        await studio.pilot.pause()
        assert studio.events == []
