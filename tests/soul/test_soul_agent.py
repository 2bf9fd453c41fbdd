"""Agents: what they are told of themselves, and the files that describe them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from flowstudio.config import Config
from flowstudio.soul import AgentFileError, Runtime, default_agent, load_agent, system_prompt
from flowstudio.soul.agentfile import read_agent_file
from flowstudio.soul.prompt import MOST_NOTES
from flowstudio.soul.tools import DEFAULT_TOOLS
from flowstudio.wire import Wire
from tests.soul.test_soul_slash import FakeSkill


def runtime(work_dir: Path, *skills: FakeSkill) -> Runtime:
    return Runtime.create(Config(), Wire(), work_dir=work_dir, skills=skills)


def tools(agent: object) -> list[str]:
    return [tool.name for tool in agent.toolset.tools]  # type: ignore[attr-defined]


def test_the_prompt_names_place_and_day(tmp_path: Path) -> None:
    prompt = system_prompt(tmp_path, today=date(2026, 5, 4))
    assert str(tmp_path) in prompt
    assert "2026-05-04" in prompt
    assert "${" not in prompt


def test_standard_skills_are_listed_by_scope_with_name_description_and_path(
    tmp_path: Path,
) -> None:
    skills = [
        FakeSkill("shared", tmp_path / "u" / "SKILL.md", "For  all\nprojects.", scope="user"),
        FakeSkill("own", tmp_path / "p" / "SKILL.md", "For this one.", scope="project"),
        FakeSkill("release", tmp_path / "f" / "SKILL.md", "A flow.", type="flow"),
    ]
    prompt = system_prompt(tmp_path, skills)
    assert f"- shared: For all projects.\n  {tmp_path}/u/SKILL.md" in prompt
    assert prompt.index("“project”") < prompt.index("- own:") < prompt.index("“user”")
    assert "release" not in prompt


def test_without_skills_nothing_is_said_of_them(tmp_path: Path) -> None:
    assert "Skills" not in system_prompt(tmp_path)


def test_the_projects_notes_are_shown_up_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs. " + "x" * 100_000)
    prompt = system_prompt(tmp_path)
    assert "Use tabs." in prompt
    assert len(prompt) < MOST_NOTES + 5000


def test_notes_and_skills_cannot_smuggle_variables_in(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("${WORK_DIR} costs $5")
    assert "${WORK_DIR} costs $5" in system_prompt(tmp_path)


def test_the_default_agent_has_the_default_tools(tmp_path: Path) -> None:
    agent = default_agent(runtime(tmp_path))
    assert agent.name == "flowstudio"
    assert tools(agent) == list(DEFAULT_TOOLS)
    assert load_agent(runtime(tmp_path)).system_prompt == agent.system_prompt


def test_an_agent_file_names_prompt_and_tools(tmp_path: Path) -> None:
    file = tmp_path / "reviewer.yaml"
    file.write_text(
        "name: reviewer\n"
        "system_prompt: |\n  You review code in ${WORK_DIR}. It costs $5.\n  ${SKILLS}\n"
        "tools: [ReadFile, Grep, Shell, submit_answer]\n"
        "exclude_tools: [Shell]\n"
    )
    skill = FakeSkill("own", tmp_path / "SKILL.md")
    agent = load_agent(runtime(tmp_path, skill), file)
    assert agent.name == "reviewer"
    assert tools(agent) == ["ReadFile", "Grep", "submit_answer"]
    assert f"You review code in {tmp_path}. It costs $5." in agent.system_prompt
    assert "- own:" in agent.system_prompt


def test_the_prompt_may_stand_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("name: a\nsystem_prompt_path: prompt.md\n")
    (tmp_path / "prompt.md").write_text("You are brief.")
    agent = load_agent(runtime(tmp_path), tmp_path / "agent.yaml")
    assert agent.system_prompt == "You are brief.\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [", "no valid YAML"),
        ("- a", "a mapping"),
        ("tools: []", "name: Field required"),
        ("name: a\ncolour: red", "colour: Extra inputs"),
        ("name: a\ntools: [ReadFil]", "no tool 'ReadFil'; did you mean ReadFile?"),
        ("name: a\nsystem_prompt: x\nsystem_prompt_path: y", "either system_prompt or"),
        ("name: a\nsystem_prompt_path: missing.md", "system_prompt_path"),
        ("name: a\nmcp_servers: [{name: x}]", "either command or url"),
        ("name: a\nmcp_servers: [{name: x y, command: z}]", "mcp_servers.0.name"),
    ],
)
def test_a_wrong_agent_file_is_refused_with_what_is_wrong(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(text)
    with pytest.raises(AgentFileError) as caught:
        load_agent(runtime(tmp_path), file)
    assert "agent.yaml" in str(caught.value)
    assert told in str(caught.value)


def test_an_agent_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match="cannot be read"):
        load_agent(runtime(tmp_path), tmp_path / "none.yaml")


def test_mcp_servers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(
        "name: a\nmcp_servers:\n"
        "- {name: issues, command: issue-server, args: [--stdio], pass_env: [ISSUE_TOKEN]}\n"
        "- {name: docs, url: http://127.0.0.1:1/mcp}\n"
    )
    one, other = read_agent_file(file).mcp_servers
    assert (one.command, one.args, one.pass_env) == (
        "issue-server",
        ("--stdio",),
        ("ISSUE_TOKEN",),
    )
    assert other.url == "http://127.0.0.1:1/mcp"
