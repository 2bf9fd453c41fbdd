"""A called skill that is a flow: run node by node, within the visit that calls it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from flowstudio.mindflow.called import CalledSkills
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.usage import UsageLog
from flowstudio.run.called_flow import MOST_MOVES, play_flow
from flowstudio.run.called_lines import describe_called
from flowstudio.run.control import RunControl
from flowstudio.run.journal import read_journal
from flowstudio.run.runner import RunOutcome
from flowstudio.run.session import RunRequest, Session
from flowstudio.skill import Root, load_skill, read_roots
from flowstudio.soul import Agent
from flowstudio.soul.tools import make_tools
from flowstudio.wire import (
    CalledFlowSaid,
    Event,
    NodeEntered,
    NodeLeft,
    RunEnded,
    Text,
    ToolCalled,
    ToolReturned,
)
from tests.mindflow.calling import call, uses_in
from tests.servers.scripted import Call, Reply, ScriptedServer, say, use
from tests.soul.bench import Bench, connect

OUTER = "A([BEGIN]) --> one[Make the report.] --> B([END])"
REPORT = """A([BEGIN]) --> read[Read the notes.] --> check{Are there enough?}
  check -->|yes| write[Write the report.] --> B([END])
  check -->|no| read"""


def write(root: Path, name: str, chart: str = "", fields: str = "", body: str = "Do it.") -> None:
    (root / name).mkdir()
    kind = "flow" if chart else "standard"
    text = f"```mermaid\nflowchart TD\n  {chart}\n```" if chart else body
    (root / name / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Does {name}.\ntype: {kind}\n{fields}---\n\n{text}\n"
    )


@dataclass
class Rig:
    """A session that runs the flow `outer`, whose node calls what the test wrote."""

    bench: Bench
    host: CalledSkills
    session: Session
    root: Path
    events: list[Event]

    async def run(self, control: RunControl | None = None) -> RunOutcome:
        skill = load_skill(self.root / "outer")
        assert skill.flow is not None
        request = RunRequest(skill.flow, "outer", skill.path, skill.source)
        return await self.session.run_flow(request, control)

    @property
    def nested(self) -> list[CalledFlowSaid]:
        return self.bench.said_of(CalledFlowSaid)

    @property
    def results(self) -> list[ToolReturned]:
        return [one for one in self.bench.said_of(ToolReturned) if "/" not in one.id]

    def uses(self) -> dict[str, tuple[int, int, int]]:
        return uses_in(self.root.parent / "library.sqlite3")

    def why(self, name: str) -> str:
        with Database(self.root.parent / "library.sqlite3") as database:
            return next(one.last_why for one in UsageLog(database).of_skills() if one.skill == name)


async def rig_of(
    server: ScriptedServer,
    tmp_path: Path,
    root: Path,
    *replies: Reply,
    tools: tuple[str, ...] = (),
    called: str = "called_skills: [report]\n",
) -> Rig:
    write(root, "outer", OUTER, called)
    server.script(*replies)
    skills = read_roots([Root(root, "user", root)]).skills
    bench = Bench(await connect(server.base_url), tmp_path, skills=skills, yolo=True)
    host = CalledSkills(
        bench.runtime, lambda: Database(tmp_path / "library.sqlite3"), play=play_flow
    )
    bench.runtime.skill_host = host
    agent = Agent("a", "p", make_tools(bench.runtime, tools))
    session = Session(bench.runtime, agent, runs_dir=tmp_path / "runs")
    events: list[Event] = []
    bench.wire.subscribe(events.append)
    return Rig(bench, host, session, root, events)


async def test_a_called_flow_is_run_node_by_node_and_its_last_task_answers(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT, "effects: [has_report]\n")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("report", data="notes.md")),
        say("3 notes"),
        say("<choice>no</choice>"),
        say("9 notes"),
        say("<choice>yes</choice>"),
        say("All went well. <outcome>done</outcome>"),
        say("The report is made."),
    )
    assert (await rig.run()).reason == "reached_end"
    asked = [one.last_text for one in server.requests[1:6]]
    assert "do report" in asked[0] and "notes.md" in asked[0] and "Read the notes." in asked[0]
    assert "Are there enough?" in asked[1] and "Write the report." in asked[4]
    [result] = rig.results
    assert result.ok and result.output.startswith("All went well.")
    to_caller = server.requests[6].last_text
    assert "It went read → check (no) → read → check (yes) → write." in to_caller
    assert "Now holds: has_report." in to_caller and rig.host.states == {"has_report"}
    assert rig.uses() == {"outer": (1, 0, 0), "report": (1, 0, 0)}


async def test_what_a_called_flow_does_belongs_to_the_visit_that_called_it(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT)
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("report")),
        use(Call("Think", {"thought": "hm"})),
        say("inner words"),
        say("<choice>yes</choice>"),
        say("written"),
        say("outer words"),
        tools=("Think",),
    )
    await rig.run()
    said = [(event.node, event.visit) for event in rig.events if event.type == "called_flow_said"]
    assert set(said) == {("one", 1)}
    entered = [(one.at, one.at_visit) for one in rig.nested if isinstance(one.body, NodeEntered)]
    assert entered == [("A", 1), ("read", 1), ("check", 1), ("write", 1), ("B", 1)]
    assert {(one.call, one.flow, one.depth) for one in rig.nested} == {
        ("skill__report-1", "report", 1)
    }
    # Tools of its nodes are seen as those of any called skill, its words are not.
    calls = [(one.name, one.id) for one in rig.bench.said_of(ToolCalled)]
    assert calls == [("skill__report", "call_1"), ("Think", "skill__report-1/call_1")]
    assert "".join(one.text for one in rig.bench.said_of(Text)) == "outer words"
    # The run's own visits are not mixed up with those of the called flow.
    assert [event.node for event in rig.events if event.type == "node_left"] == ["A", "one", "B"]
    lines = [line for one in rig.nested if (line := describe_called(one))]
    assert lines[0] == "report ▸ begins" and "report ▸ check → yes" in lines
    assert lines[-1] == "report ▸ the run reached END, after 4 moves"


async def test_the_journal_keeps_a_called_flow_with_its_answers(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT)
    replies = [say("notes"), say("<choice>yes</choice>"), say("written"), say("ok")]
    rig = await rig_of(server, tmp_path, root, use(call("report")), *replies)
    await rig.run()
    assert rig.session.folder is not None
    kept = list(read_journal(rig.session.folder.journal).events)
    assert [one for one in kept if one.type == "called_flow_said"] == [
        one for one in rig.events if one.type == "called_flow_said"
    ]
    answers = [
        (one.body.at, body.answer)
        for one in kept
        if isinstance(one.body, CalledFlowSaid)
        and isinstance(body := one.body.body, NodeLeft)
        and body.answer
    ]
    assert answers == [("read", "notes"), ("check", "<choice>yes</choice>"), ("write", "written")]


async def test_a_flow_within_a_called_flow_is_told_apart_by_its_depth(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", "A([BEGIN]) --> a[Use notes.] --> B([END])", "called_skills: [notes]\n")
    write(root, "notes", "A([BEGIN]) --> n[Take notes.] --> B([END])", "called_skills: [report]\n")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("report")),
        use(call("notes")),
        say("noted"),
        say("reported"),
        say("ok"),
    )
    await rig.run()
    calls = {(one.call, one.flow, one.depth) for one in rig.nested}
    assert calls == {
        ("skill__report-1", "report", 1),
        ("skill__report-1/skill__notes-2", "notes", 2),
    }
    offered = [
        {one["function"]["name"] for one in r.body.get("tools", ())} for r in server.requests
    ]
    assert offered[1] == {"skill__notes"} and offered[2] == set(), "never those that called it"
    assert rig.uses()["notes"] == (1, 0, 0)


async def test_a_called_flow_that_does_not_end_fails_after_its_moves_and_the_task_goes_on(
    server: ScriptedServer, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("flowstudio.run.called_flow.MOST_MOVES", 6)
    assert MOST_MOVES > 6
    write(root, "report", REPORT)
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("report")),
        *[say("1 note"), say("<choice>no</choice>")] * 3,
        say("went on without it"),
    )
    assert (await rig.run()).reason == "reached_end"
    [result] = rig.results
    assert not result.ok and result.output == "1 note", "what is done is given"
    assert "6 moves" in server.requests[-1].last_text
    assert rig.uses()["report"] == (0, 0, 1) and "6 moves" in rig.why("report")


async def test_a_called_flow_whose_choice_fails_is_recorded_as_failed(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT)
    bad = [say("perhaps")] * 4
    rig = await rig_of(
        server, tmp_path, root, use(call("report")), say("notes"), *bad, say("without it")
    )
    await rig.run()
    ends = [one.body for one in rig.nested if isinstance(one.body, RunEnded)]
    assert [one.reason for one in ends] == ["choice_failed"]
    assert rig.uses() == {"outer": (1, 0, 0), "report": (0, 0, 1)}


async def test_stopping_the_run_stops_the_called_flow_and_is_recorded(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT)
    rig = await rig_of(
        server, tmp_path, root, use(call("report")), say("notes"), say("<cho", fault="stall")
    )
    control = RunControl()

    def stop_in_check(event: Event) -> None:
        body = event.body
        if isinstance(body, CalledFlowSaid) and body.at == "check" and body.said == "prompt_sent":
            asyncio.get_running_loop().call_soon(control.stop)

    rig.bench.wire.subscribe(stop_in_check)
    outcome = await asyncio.wait_for(rig.run(control), 20)
    assert outcome.reason == "stopped"
    assert rig.uses() == {"outer": (0, 1, 0), "report": (0, 1, 0)}


async def test_a_value_that_a_called_flow_lacks_is_asked_for_before_it_runs(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", "A([BEGIN]) --> a[Report on {{month}}.] --> B([END])")
    rig = await rig_of(
        server,
        tmp_path,
        root,
        use(call("report")),
        use(call("report", variables={"month": "May"})),
        say("May was fine"),
        say("ok"),
    )
    await rig.run()
    assert [one.ok for one in rig.results] == [False, True]
    assert "it needs values for: month" in server.requests[1].last_text
    assert "Report on May." in server.requests[2].last_text


async def test_the_nodes_of_a_called_flow_have_the_tools_that_its_file_allows(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    fields = "allowed-tools: [ReadFile, Glob]\nnodes:\n  b: {tools: [Glob]}\n"
    write(root, "report", "A([BEGIN]) --> a[Read.] --> b[List.] --> B([END])", fields)
    rig = await rig_of(
        server,
        tmp_path,
        root,
        *[use(call("report")), say("read"), say("listed"), say("ok")],
        tools=("ReadFile", "Glob", "Shell"),
    )
    await rig.run()
    offered = [
        {one["function"]["name"] for one in r.body.get("tools", ())} for r in server.requests
    ]
    assert offered[1:3] == [{"ReadFile", "Glob"}, {"Glob"}]


async def test_a_called_flow_that_cannot_be_read_fails_with_what_is_wrong(
    server: ScriptedServer, tmp_path: Path, root: Path
):
    write(root, "report", REPORT)
    rig = await rig_of(server, tmp_path, root, use(call("report")), say("without it"))
    text = (root / "report" / "SKILL.md").read_text().replace("B([END])", "C")
    (root / "report" / "SKILL.md").write_text(text)
    await rig.run()
    assert "its flow cannot be run:" in server.requests[1].last_text
    assert rig.uses()["report"] == (0, 0, 1)
