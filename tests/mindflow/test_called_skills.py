"""Running a skill with `called_skills`: just those are tools; states, use and success are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import compile_flow, read_mermaid
from flowstudio.mindflow.called import CalledSkills
from flowstudio.mindflow.called_words import name_tool, read_outcome
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.usage import UsageLog
from flowstudio.run.session import RunRequest, Session
from flowstudio.skill import Root, Skill, load_skill, read_roots
from flowstudio.soul import Agent
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Notice, Text, TokensUsed, ToolCalled, ToolReturned
from tests.mindflow.calling import call, uses_in
from tests.servers.scripted import Call, Reply, ScriptedServer, fail, say, use
from tests.soul.bench import Bench, connect


def write(root: Path, name: str, fields: str = "", body: str = "Do it.") -> None:
    folder = root / name
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Does {name}.\ntype: standard\n{fields}---\n\n{body}\n"
    )


def skills_of(root: Path) -> tuple[Skill, ...]:
    return read_roots([Root(root, "user", root)]).skills


class Rig:
    """A soul whose session runs skills, and the server that answers for all of them."""

    def __init__(self, bench: Bench, host: CalledSkills, file: Path) -> None:
        self.bench = bench
        self.host = host
        self.file = file

    async def run(self, command: str) -> None:
        await self.bench.soul.run(command)

    @property
    def results(self) -> list[ToolReturned]:
        """What the outermost soul's tools gave."""
        return [one for one in self.bench.said_of(ToolReturned) if "/" not in one.id]

    def uses(self) -> dict[str, tuple[int, int, int]]:
        return uses_in(self.file)


async def rig_of(
    server: ScriptedServer, tmp_path: Path, root: Path, *replies: Reply, tools: Any = ()
) -> Rig:
    server.script(*replies)
    bench = Bench(
        await connect(server.base_url), tmp_path, tools=tools, skills=skills_of(root), yolo=True
    )
    file = tmp_path / "library.sqlite3"
    host = CalledSkills(bench.runtime, lambda: Database(file))
    bench.runtime.skill_host = host
    return Rig(bench, host, file)


def tools_in(server: ScriptedServer, at: int) -> set[str]:
    return {one["function"]["name"] for one in server.requests[at].body.get("tools") or ()}


# ---- what is offered -------------------------------------------------------------------------


async def test_a_skill_has_the_skills_that_it_calls_as_tools_and_no_others(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart]\n")
    for name in ("csv", "chart", "other"):
        write(root, name)
    rig = await rig_of(server, tmp_path, root, say("done"), say("hello"), tools=["Think"])
    await rig.run("/skill:main go")
    assert tools_in(server, 0) == {"Think", "skill__csv", "skill__chart"}
    assert "csv (skill__csv), chart (skill__chart)" in server.requests[0].last_text
    await rig.run("hi")
    assert tools_in(server, 1) == {"Think"}, "the tools are gone when the skill is done"


async def test_a_called_skill_gets_its_text_the_request_and_the_data_and_nothing_else(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv", body="Count the rows.")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("csv", data="orders.csv")),
        say("12 rows"),
        say("There are 12."),
    )
    await rig.run("/skill:main how many rows, SECRET?")
    inner = server.requests[1].messages
    assert [message["role"] for message in inner] == ["system", "user"]
    text = server.requests[1].last_text
    assert "Count the rows." in text and "do csv" in text and "orders.csv" in text
    assert "SECRET" not in text, "the caller's conversation is not the called skill's"
    assert "12 rows" in server.requests[2].last_text
    assert rig.bench.history[-1] == ("assistant", "There are 12.")


async def test_called_skills_call_theirs_but_never_those_that_called_them(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "a", "called_skills: [b]\n")
    write(root, "b", "called_skills: [a, b, c]\n")
    write(root, "c")
    rig = await rig_of(server, tmp_path, root, use(call("b")), say("b is done"), say("all done"))
    await rig.run("/skill:a")
    assert tools_in(server, 0) == {"skill__b"}
    assert tools_in(server, 1) == {"skill__c"}


async def test_skills_call_each_other_only_so_deep(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    for number in range(8):
        write(root, f"s{number}", f"called_skills: [s{number + 1}]\n")
    calls = [use(call(f"s{number}")) for number in range(1, 5)]
    rig = await rig_of(server, tmp_path, root, *calls, *[say("ok")] * 5)
    await rig.run("/skill:s0")
    assert [sorted(tools_in(server, at)) for at in range(5)] == [
        ["skill__s1"],
        ["skill__s2"],
        ["skill__s3"],
        ["skill__s4"],
        [],
    ]


async def test_a_called_skill_has_its_callers_tools_as_far_as_it_may_use_them(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv", "allowed-tools: [ReadFile]\n")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("csv")),
        say("ok"),
        say("ok"),
        tools=["ReadFile", "Shell", "Think", "submit_answer"],
    )
    await rig.run("/skill:main")
    assert tools_in(server, 1) == {"ReadFile", "Think"}


async def test_a_name_that_is_not_here_is_told_with_similar_ones(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [data-cleanin]\n")
    write(root, "data-cleaning")
    rig = await rig_of(server, tmp_path, root, say("ok"))
    await rig.run("/skill:main")
    assert (
        "It names the skill data-cleanin, which is not here. Similar ones are: data-cleaning."
        in (server.requests[0].last_text)
    )


async def test_a_call_of_an_unknown_skill_suggests_similar_ones(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(server, tmp_path, root, use(Call("skill__cvs", "{}")), say("ok"))
    await rig.run("/skill:main")
    assert "Did you mean skill__csv?" in server.requests[1].last_text


async def test_a_skill_whose_folder_is_not_trusted_is_not_run(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(server, tmp_path, root, use(call("csv")), say("ok"))
    rig.bench.runtime.why_no_skill = lambda skill: "not trusted" if skill.name == "csv" else ""
    await rig.run("/skill:main")
    assert len(server.requests) == 2 and "not trusted" in server.requests[1].last_text


async def test_in_a_rehearsal_nothing_is_offered_and_nothing_is_noted(tmp_path: Path, root: Path):
    from flowstudio.models import LLM, RehearsalProvider, SeededWalk

    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    llm = LLM(RehearsalProvider(SeededWalk(1)), "rehearsal", "rehearsal", None)
    bench = Bench(llm, tmp_path, skills=skills_of(root))
    host = CalledSkills(bench.runtime, lambda: pytest.fail("the data is not opened"))
    bench.runtime.skill_host = host
    await bench.soul.run("/skill:main")
    assert bench.soul.agent.toolset.tools == [] and host.states == set()


@pytest.mark.parametrize("name", ["csv", "数据清洗", "a b", "x" * 200, "skill.v2", "日 csv"])
def test_each_skill_has_a_tool_name_that_every_provider_takes(name: str):
    import re

    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name_tool(name))
    assert name_tool(name) != name_tool(f"{name}2")


# ---- states ----------------------------------------------------------------------------------


async def test_what_a_skill_needs_is_asked_for_with_who_brings_it_about(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart]\n")
    write(root, "csv", "effects: [table]\n")
    write(root, "chart", "preconditions: [table]\neffects: [picture]\n")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("chart")),
        use(call("csv")),
        say("loaded"),
        use(call("chart")),
        say("drawn"),
        say("all done"),
    )
    await rig.run("/skill:main")
    refused = server.requests[1].last_text
    assert "chart was not run: it needs table" in refused
    assert "skill__csv brings table about: call it first." in refused
    assert [one.ok for one in rig.results] == [False, True, True]
    assert rig.host.states == {"table", "picture"}


async def test_the_caller_may_say_that_a_state_holds(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [chart]\n")
    write(root, "chart", "preconditions: [table]\n")
    rig = await rig_of(
        server, tmp_path, root, use(call("chart", have=["table"])), say("drawn"), say("ok")
    )
    await rig.run("/skill:main")
    assert [one.ok for one in rig.results] == [True]


async def test_a_skill_that_the_user_begins_is_told_to_check_what_it_needs(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "preconditions: [table]\neffects: [picture]\n")
    rig = await rig_of(server, tmp_path, root, say("ok"))
    await rig.run("/skill:main")
    assert "It needs: table. Check that this is there" in server.requests[0].last_text
    assert rig.host.states == {"table", "picture"}


# ---- how it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "outcome", "text"),
    [
        ("fine", "done", "fine"),
        ("fine <outcome>done</outcome>", "done", "fine"),
        ("half\n<outcome> Partial </outcome>", "partial", "half"),
        ("no <outcome>failed</outcome>", "failed", "no"),
        ("<outcome>failed</outcome> then <outcome>done</outcome>", "done", "then"),
        ("<outcome>perhaps</outcome>", "done", "<outcome>perhaps</outcome>"),
        ("", "done", ""),
    ],
)
def test_a_called_skill_says_how_it_ended(answer: str, outcome: str, text: str):
    assert read_outcome(answer) == (outcome, text)


async def test_use_and_success_are_kept_for_the_skill_and_those_that_it_called(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart, notes]\n")
    for name in ("csv", "chart", "notes"):
        write(root, name)
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("csv"), call("chart"), call("notes")),
        say("12 rows <outcome>done</outcome>"),
        say("no axis <outcome>failed</outcome>"),
        say("one of two <outcome>partial</outcome>"),
        say("I did what I could."),
    )
    await rig.run("/skill:main")
    assert rig.uses() == {
        "main": (1, 0, 0),
        "csv": (1, 0, 0),
        "chart": (0, 0, 1),
        "notes": (0, 1, 0),
    }


async def test_one_failed_skill_does_not_fail_the_task_and_the_end_sums_up(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart]\n")
    write(root, "csv")
    write(root, "chart")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("chart"), call("csv")),
        say("no axis <outcome>failed</outcome>"),
        say("12 rows"),
        say("12 rows, but no chart."),
    )
    await rig.run("/skill:main")
    assert [one.ok for one in rig.results] == [False, True]
    assert [one.text for one in rig.bench.said_of(Notice)] == [
        "Done: csv.\nNot done: chart. no axis."
    ]


async def test_a_model_that_fails_in_a_called_skill_fails_that_skill_only(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(
        server, tmp_path, root, use(call("csv")), fail(400, message="too odd"), say("without it")
    )
    await rig.run("/skill:main")
    assert rig.bench.history[-1] == ("assistant", "without it")
    assert rig.uses()["csv"] == (0, 0, 1)


async def test_a_rejected_tool_in_a_called_skill_ends_the_callers_turn_too(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("csv")),
        use(Call("Shell", {"command": "rm -rf ."})),
        tools=["Shell"],
    )
    rig.bench.runtime.approval.set_yolo(False)
    rig.bench.runtime.approval.policy = "reject"
    await rig.run("/skill:main")
    assert rig.bench.soul.last_turn is not None and rig.bench.soul.last_turn.rejected
    assert len(server.requests) == 2
    assert rig.uses() == {"main": (0, 1, 0), "csv": (0, 1, 0)}


async def test_what_a_called_skill_does_is_seen_and_its_words_are_not(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("csv")),
        use(Call("Think", {"thought": "hm"})),
        say("inner words"),
        say("outer words"),
        tools=["Think"],
    )
    await rig.run("/skill:main")
    assert [(one.name, one.id) for one in rig.bench.said_of(ToolCalled)] == [
        ("skill__csv", "call_1"),
        ("Think", "skill__csv-1/call_1"),
    ]
    assert len(rig.bench.said_of(TokensUsed)) == 4, "each call is counted"
    assert "".join(one.text for one in rig.bench.said_of(Text)) == "outer words"


async def test_data_that_cannot_be_written_is_said_once_and_stops_nothing(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv]\n")
    write(root, "csv")
    rig = await rig_of(server, tmp_path, root, use(call("csv")), say("ok"), say("done"))
    (tmp_path / "blocked").write_text("")
    rig.bench.runtime.skill_host = CalledSkills(
        rig.bench.runtime, lambda: Database(tmp_path / "blocked" / "x.sqlite3")
    )
    await rig.run("/skill:main")
    assert rig.bench.history[-1] == ("assistant", "done")
    [notice] = rig.bench.said_of(Notice)
    assert "The work goes on without it." in notice.text


async def test_the_end_of_a_task_shows_what_was_learned_from_it(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "main", "called_skills: [csv, chart]\n")
    write(root, "csv")
    write(root, "chart")
    # `main` calls the same two, so something else must have used them.
    rig = await rig_of(server, tmp_path, root, say("ok"))
    with Database(rig.file) as database:
        for session in "abc":
            for name in ("chart", "csv"):
                UsageLog(database).record(name, "done", session=session)
    await rig.run("/skill:main")
    [notice] = rig.bench.said_of(Notice)
    assert "a flow of chart, csv  (waits for your answer)" in notice.text
    rig.bench.said.clear()
    server.script(say("ok"))
    await rig.run("/skill:main")
    assert rig.bench.said_of(Notice) == [], "it is said once"


# ---- in a flow -------------------------------------------------------------------------------

FLOW = """---
name: both
description: Both.
type: flow
allowed-tools: [ReadFile]
called_skills: [csv]
---

```mermaid
flowchart TD
  A([BEGIN]) --> one[Use the skill csv.] --> B([END])
```
"""


async def test_a_flow_has_the_skills_that_it_calls_while_it_runs(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "csv", "effects: [table]\n")
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "SKILL.md").write_text(FLOW)
    skill = load_skill(folder)
    assert skill.flow is not None
    rig = await rig_of(
        server, tmp_path, root, use(call("csv")), say("12 rows"), say("done"), tools=["Think"]
    )
    runtime = rig.bench.runtime
    session = Session(runtime, Agent("a", "p", make_tools(runtime, ["ReadFile", "Shell"])))
    outcome = await session.run_flow(RunRequest(skill.flow, "both", skill.path, skill.source))
    assert outcome.reason == "reached_end"
    assert tools_in(server, 0) == {"ReadFile", "skill__csv"}, "allowed-tools leaves them"
    assert tools_in(server, 1) == {"ReadFile"}
    assert rig.host.states == {"table"}
    assert rig.uses() == {"both": (1, 0, 0), "csv": (1, 0, 0)}


async def test_a_flow_without_a_file_calls_no_skill(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "csv")
    rig = await rig_of(server, tmp_path, root, say("done"))
    session = Session(rig.bench.runtime, Agent("a", "p", make_tools(rig.bench.runtime, [])))
    flow = compile_flow(read_mermaid("flowchart TD\n  A([BEGIN]) --> b[x] --> C([END])"))
    assert (await session.run_flow(RunRequest(flow, "bare"))).reason == "reached_end"
    assert not rig.file.exists()
