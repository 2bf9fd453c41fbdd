"""Failing, row by row of the Mindflow design's table: each row is caused, and its remedy seen.

L1 the model      network, limit, timeout, an answer that cannot be understood
L2 the skills     unknown, precondition missing, failed, done in part
L3 the library    graph down, vectors down, inconsistent, index damaged
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from flowstudio.config import SearchSettings
from flowstudio.mindflow.called_words import name_tool
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.failing import Troubles, ask_model, first_way, shorten_prompt, sum_up
from flowstudio.mindflow.finder import Finder
from flowstudio.mindflow.graph import GraphDown, snapshot
from flowstudio.mindflow.graph_memory import MemoryGraph
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.opening import open_graph
from flowstudio.mindflow.plan import plan_states
from flowstudio.mindflow.plan_goal import read_goal
from flowstudio.mindflow.search import Answer
from flowstudio.mindflow.serving import serve_goal
from flowstudio.mindflow.usage import UsageLog
from flowstudio.mindflow.vectors import ArrayIndex, VectorsDown
from flowstudio.skill import Root, read_roots
from tests.mindflow import bolt
from tests.mindflow.libraries import data_library
from tests.mindflow.test_called_skills import rig_of, write
from tests.servers.scripted import Call, Reply, ScriptedServer, fail, say, use
from tests.soul.bench import connect


class Waits:
    """A sleep that notes instead of waiting."""

    def __init__(self) -> None:
        self.made: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.made.append(seconds)


# ---- L1: the model ---------------------------------------------------------------------------


async def test_l1_a_network_error_is_tried_again_three_times_with_growing_waits(
    server: ScriptedServer,
):
    server.script(*[Reply(fault="reset")] * 3, say("here"))
    waits, troubles = Waits(), Troubles()
    llm = await connect(server.base_url)
    assert await ask_model(llm, "s", "p", troubles, sleep=waits) == "here"
    assert waits.made == [1.0, 2.0, 4.0] and troubles.said == []


async def test_l1_a_network_that_stays_down_leaves_the_work_to_go_on_without_the_model(
    server: ScriptedServer,
):
    server.script(*[Reply(fault="reset")] * 4, say("too late"))
    waits, troubles = Waits(), Troubles()
    llm = await connect(server.base_url)
    assert await ask_model(llm, "s", "p", troubles, sleep=waits) is None
    assert len(server.requests) == 4
    assert troubles.said[0].startswith("The model could not be asked.")
    assert troubles.said[0].endswith("It goes on without the model.")


async def test_l1_a_limit_is_waited_for_as_long_as_the_server_says(server: ScriptedServer):
    server.script(fail(429, retry_after="7"), say("here"))
    waits = Waits()
    llm = await connect(server.base_url)
    assert await ask_model(llm, "s", "p", Troubles(), sleep=waits) == "here"
    assert waits.made == [7.0]


async def test_l1_a_second_limit_means_a_simpler_way(server: ScriptedServer):
    server.script(fail(429), fail(429), say("too late"))
    waits, troubles = Waits(), Troubles()
    found = await read_goal(
        "has a chart",
        data_library(),
        llm=await connect(server.base_url),
        troubles=troubles,
        sleep=waits,
    )
    assert waits.made == [60.0], "a server that says nothing is given a minute"
    assert (found.states, found.by) == (("has_chart",), "words")
    assert "It goes on without the model." in troubles.said[0]


async def test_l1_after_a_timeout_the_prompt_is_shorter(server: ScriptedServer):
    lines = "\n".join(f"line {number}" for number in range(20))
    server.script(Reply(fault="stall"), say("here"))
    waits = Waits()
    llm = await connect(server.base_url, request_timeout=0.3)
    assert await ask_model(llm, "s", lines, Troubles(), sleep=waits) == "here"
    first, second = (request.last_text for request in server.requests)
    assert first == lines and len(second) < len(first)
    assert second.startswith("line 0\n") and second.endswith("\nline 19")


async def test_l1_an_answer_that_cannot_be_understood_is_said_and_the_default_stands(
    server: ScriptedServer,
):
    server.script(say('{"goals": "perhaps'))
    troubles = Troubles()
    found = await read_goal(
        "a chart", data_library(), llm=await connect(server.base_url), troubles=troubles
    )
    assert found.states == ("has_chart",) and "could not be understood" in troubles.said[0]


async def test_l1_a_wrong_key_is_not_tried_again(server: ScriptedServer):
    server.script(fail(401), say("never"))
    waits = Waits()
    llm = await connect(server.base_url)
    assert await ask_model(llm, "s", "p", Troubles(), sleep=waits) is None
    assert waits.made == [] and len(server.requests) == 1


@pytest.mark.parametrize("prompt", ["", "one line", "a\nb"])
def test_a_prompt_that_is_short_already_stays(prompt: str):
    assert shorten_prompt(prompt) == prompt


# ---- L2: the skills --------------------------------------------------------------------------


async def test_l2_an_unknown_skill_is_answered_with_similar_ones(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [cleaning]\n")
    write(root, "cleaning")
    rig = await rig_of(server, tmp_path, root, use(Call("skill__cleanin", "{}")), say("ok"))
    await rig.run("/skill:main")
    assert "Did you mean skill__cleaning?" in server.requests[1].last_text


async def test_l2_a_missing_precondition_is_answered_with_who_brings_it_about(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart]\n")
    write(root, "csv", "effects: [table]\n")
    write(root, "chart", "preconditions: [table]\n")
    chart = Call(name_tool("chart"), {"request": "draw"})
    rig = await rig_of(server, tmp_path, root, use(chart), say("ok"))
    await rig.run("/skill:main")
    assert "skill__csv brings table about" in server.requests[1].last_text


async def test_l2_what_is_missing_is_planned_for_where_a_skill_brings_it_about():
    skills = data_library().skills.values()
    found = plan_states(skills, ["has_chart"], score=lambda _: 0.5)
    assert [step.skill.name for step in found.steps] == ["csv", "cleaning", "charts"]
    assert found.needs == ("has_csv_file",), "what nobody brings about is told"


async def test_l2_a_failed_skill_is_recorded_and_is_found_less_easily(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    csv = Call(name_tool("csv"), {"request": "load"})
    rig = await rig_of(
        server, tmp_path, root, use(csv), say("no <outcome>failed</outcome>"), say("ok")
    )
    with Database(rig.file) as database:
        UsageLog(database).record("csv", "done")
        before = UsageLog(database).histories()["csv"].success_rate
    await rig.run("/skill:main")
    with Database(rig.file) as database:
        after = UsageLog(database).histories()["csv"].success_rate
    assert (before, after) == (1.0, 0.5)


async def test_l2_what_was_done_in_part_is_returned(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    csv = Call(name_tool("csv"), {"request": "load"})
    rig = await rig_of(
        server, tmp_path, root, use(csv), say("sheet 1 <outcome>partial</outcome>"), say("ok")
    )
    await rig.run("/skill:main")
    assert "sheet 1" in server.requests[2].last_text
    assert "Only a part could be done" in server.requests[2].last_text


def test_the_end_sums_up_what_was_done_and_what_was_not():
    said = sum_up(["csv"], [("chart", "There were no numbers.")], ["report"])
    assert said == (
        "Done: csv.\nNot done: chart. There were no numbers.\n"
        "Not begun, since it needs what is missing: report."
    )
    assert sum_up([], []) == "There was nothing to do."


# ---- L3: the library -------------------------------------------------------------------------


class Letters:
    """An embedder: counts of letters. Meaning enough for a test."""

    model = "letters"
    spread = 0.1
    floor = 0.1

    def passages(self, texts: Any) -> Any:
        rows = [[text.lower().count(chr(97 + at)) + 0.01 for at in range(26)] for text in texts]
        array = np.array(rows, dtype=np.float32)
        return array / np.linalg.norm(array, axis=1, keepdims=True)

    queries = passages


class DownGraph(MemoryGraph):
    """A graph whose server is gone."""

    def siblings(self, skill: str) -> Any:
        raise GraphDown("the server is gone")


class DownIndex(ArrayIndex):
    """An index that works until it is asked."""

    def nearest(self, query: Any, most: int) -> Any:
        raise VectorsDown("the index is gone")


def finder_of(index: ArrayIndex | None = None, graph: MemoryGraph | None = None) -> Finder:
    finder = Finder(cast("Any", Letters()), index or ArrayIndex(None), graph)
    finder.update(data_library())
    assert finder.wait(30)
    return finder


def test_l3_where_the_graph_is_down_the_vectors_answer():
    with finder_of(graph=DownGraph()) as finder:
        answer = finder.find("draws charts from clean data", rejected=["csv"])
    assert answer.by == "letters" and answer.candidates
    assert any("graph of the library cannot be asked" in note for note in answer.notes)


def test_l3_a_graph_server_that_is_not_there_is_replaced_by_memory(tmp_path: Path):
    settings = SearchSettings(graph=f"bolt://127.0.0.1:{bolt.free_port()}")
    store, notes = open_graph(settings, tmp_path)
    store.load(snapshot(data_library()))
    assert store.callers("csv") == ("cleaning",)
    [note] = notes
    assert note.startswith("The library's graph is kept in memory for now:")


def test_l3_where_the_vectors_are_down_words_answer():
    with finder_of(index=DownIndex(None)) as finder:
        answer = finder.find("draws charts from clean data")
    assert answer.by == "words" and answer.candidates[0].skill.name == "charts"
    assert any("Words alone were compared" in note for note in answer.notes)


def test_l3_a_damaged_index_is_made_again(tmp_path: Path):
    path = tmp_path / "vectors.npz"
    with finder_of(index=ArrayIndex(path)):
        pass
    path.write_bytes(b"PK\x03\x04" + path.read_bytes()[40:])
    with finder_of(index=ArrayIndex(path)) as finder:
        assert finder.find("draws charts from clean data").by == "letters"
    with np.load(path, allow_pickle=False) as kept:
        assert len(kept["keys"]) > 5


def test_l3_what_does_not_fit_together_is_marked_and_the_rest_is_used(root: Path):
    write(root, "main", "called_skills: [gone, csv]\nmethodology_scores: {meth_simple: 7}\n")
    write(root, "csv", "effects: {not: a list}\n")
    library = read_library(read_roots([Root(root, "user", root)]))
    assert set(library.skills) == {"main", "csv"}
    assert library.skills["csv"].effects == ()
    assert len(library.findings) == 3 and all(one.path for one in library.findings)


async def test_l3_with_everything_down_the_user_still_gets_skills_to_pick_from(
    server: ScriptedServer,
):
    server.script(*[Reply(fault="reset")] * 4)
    troubles = Troubles()

    def search(_: str) -> Answer:
        raise VectorsDown("IndexNotFound")

    found = await serve_goal(
        "knit a sweater",
        data_library(),
        score=lambda skill: 1.0 if skill.name == "diary" else 0.5,
        llm=await connect(server.base_url),
        find=search,
        troubles=troubles,
        sleep=Waits(),
    )
    assert found.way == "minimal"
    assert [one.name for one in found.options][:2] == ["diary", "charts"], "those that did best"
    model, plan, pick = troubles.said
    assert model.endswith("It goes on without the model.")
    assert plan.endswith("so a single skill is looked for.")
    assert pick == "Sorry, the search does not work just now. Pick a skill from the list instead."
    assert not re.search(r"Error\b|Exception|IndexNotFound", " ".join(troubles.said))


def test_l3_damaged_data_of_use_begins_anew_and_the_old_file_is_kept(tmp_path: Path):
    path = tmp_path / "library.sqlite3"
    path.write_bytes(b"no database at all")
    with Database(path) as database:
        assert "begins anew" in database.repaired
        assert UsageLog(database).of_skills() == []


# ---- full, reduced, minimal ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "way", "names", "says"),
    [
        ("has_chart", "full", ["csv", "cleaning", "charts"], ""),
        ("今天过得怎么样", "reduced", ["diary"], "so a single skill is looked for"),
        ("zzzz qqqq", "minimal", None, "so a single skill is looked for"),
    ],
)
async def test_each_step_down_is_said_with_why(
    goal: str, way: str, names: list[str] | None, says: str
):
    troubles = Troubles()
    with Finder(None, None) as finder:
        finder.update(data_library())
        assert finder.wait(30)
        found = await serve_goal(
            goal, data_library(), score=lambda _: 0.5, find=finder.find, troubles=troubles
        )
    assert found.way == way
    if names is None:
        assert found.plan is None and found.options
    else:
        assert found.plan is not None
        assert [step.skill.name for step in found.plan.steps] == names
    assert any(says in one for one in troubles.said) if says else troubles.said == []


# ---- what the user reads ---------------------------------------------------------------------


def test_ways_are_tried_in_turn_and_each_that_fails_is_said_once():
    troubles = Troubles()

    def broken() -> str:
        raise ValueError("IndexNotFound")

    ways = [(broken, "Looking by meaning does not work just now."), (lambda: "found", "never")]
    for _ in range(2):
        assert first_way(ways, "nothing", troubles) == "found"
    assert troubles.said == ["Looking by meaning does not work just now."]
    assert first_way(ways[:1], "nothing", troubles) == "nothing"


@pytest.mark.parametrize("fault", [Reply(fault="reset"), fail(429), fail(500), fail(401)])
async def test_no_technical_word_reaches_the_user(server: ScriptedServer, fault: Reply):
    server.script(*[fault] * 4)
    troubles = Troubles()
    llm = await connect(server.base_url)
    await read_goal("a chart", data_library(), llm=llm, troubles=troubles, sleep=Waits())
    [said] = troubles.said
    assert not re.search(r"Error\b|Exception|Traceback|API[A-Z]|None|0x|\bkosong\b", said)
