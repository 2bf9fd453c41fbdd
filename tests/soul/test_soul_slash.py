"""Slash commands: which prompt is one, and what each does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from flowstudio.soul import KimiSoul, SlashCommand
from flowstudio.soul.slash import parse_command
from flowstudio.wire import Compacted, Notice, UserAsked
from tests.servers.openai_server import openai_server
from tests.servers.scripted import say
from tests.soul.bench import Bench, connect


@dataclass(frozen=True)
class FakeSkill:
    """A skill as the room `skill` makes it."""

    name: str
    path: Path
    description: str = "Describe a table."
    type: str = "standard"
    scope: str = "project"


@pytest.fixture(autouse=True)
def _nothing_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the machine of the tests is not theirs."""
    monkeypatch.setattr("flowstudio.models.local.LOCAL_SERVERS", {})


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", ("help", "")),
        ("  /help  ", ("help", "")),
        ("/skill:csv-profile look at\nsales.csv", ("skill:csv-profile", "look at\nsales.csv")),
        ("/flow:发布 1.2", ("flow:发布", "1.2")),
        ("/?", ("?", "")),
        ("help", None),
        ("/", None),
        ("//comment", None),
        ("/etc/hosts is wrong", None),
        ("what is /help", None),
        ("", None),
    ],
)
def test_a_prompt_is_a_command_where_its_first_word_is_a_slash_and_a_name(
    text: str, command: tuple[str, str] | None
) -> None:
    assert parse_command(text) == command


def notices(bench: Bench) -> list[str]:
    return [body.text for body in bench.said_of(Notice)]


async def test_a_command_asks_no_model(tmp_path: Path) -> None:
    async with openai_server() as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        assert await bench.soul.run("/help") is None
        assert server.requests == []
    assert bench.history == []


async def test_a_turn_of_a_flow_takes_a_leading_slash_as_text(tmp_path: Path) -> None:
    async with openai_server(say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("/help is a label")
    assert bench.history[0] == ("user", "/help is a label")


async def test_help_lists_every_command_with_what_it_does(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    await bench.soul.run("/help")
    (text,) = notices(bench)
    for command in bench.soul.available_slash_commands:
        assert f"/{command.name}" in text
        assert command.description in text


async def test_an_unknown_command_is_told_with_the_one_that_is_near(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    await bench.soul.run("/compakt")
    assert "Did you mean /compact?" in notices(bench)[0]
    assert bench.said_of(Notice)[0].severity == "error"


async def test_clear_forgets_the_conversation(tmp_path: Path) -> None:
    async with openai_server(say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.run("Hello")
        await bench.soul.run("/clear")
    assert bench.history == []
    assert bench.soul.status.tokens == 0


async def test_compact_summarises(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("short")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.run("one")
        await bench.soul.run("two")
        await bench.soul.run("/compact")
    assert bench.said_of(Compacted)[0].summary == "short"


async def test_compact_of_a_short_conversation_says_so(tmp_path: Path) -> None:
    async with openai_server() as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.run("/compact")
    assert "too short" in notices(bench)[0]


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        ("/yolo", False, True),
        ("/yolo", True, False),
        ("/yolo on", True, True),
        ("/yolo off", True, False),
    ],
)
async def test_yolo_switches_asking(
    tmp_path: Path, command: str, before: bool, after: bool
) -> None:
    bench = Bench(None, tmp_path, yolo=before)
    await bench.soul.run(command)
    assert bench.runtime.approval.yolo is after


async def test_think_tells_the_model_to_think(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("c")) as server:
        llm = await connect(server.base_url, capabilities=frozenset({"thinking"}))
        bench = Bench(llm, tmp_path)
        await bench.soul.run("one")
        await bench.soul.run("/think on")
        await bench.soul.run("two")
        await bench.soul.run("/think off")
        await bench.soul.run("three")
        efforts = [request.body.get("reasoning_effort") for request in server.requests]
    assert efforts == [None, "high", None]


async def test_think_is_refused_for_a_model_that_cannot(tmp_path: Path) -> None:
    async with openai_server() as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.run("/think on")
    assert not bench.soul.thinking
    assert "thinking" in notices(bench)[0]


async def test_another_model_without_thought_ends_thinking(tmp_path: Path) -> None:
    async with openai_server() as server:
        bench = Bench(
            await connect(server.base_url, capabilities=frozenset({"thinking"})), tmp_path
        )
        bench.soul.set_thinking(True)
        bench.soul.set_model(await connect(server.base_url))
    assert not bench.soul.thinking


async def test_model_lists_what_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_MODEL", "gpt-x")
    bench = Bench(None, tmp_path)
    await bench.soul.run("/model")
    assert "openai/gpt-x" in notices(bench)[0]
    assert "rehearsal" in notices(bench)[0]


async def test_model_also_lists_what_runs_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with openai_server(say("I am local.")) as server:
        server.models = [{"id": "qwen-2"}]
        monkeypatch.setattr("flowstudio.models.local.LOCAL_SERVERS", {"llama.cpp": server.base_url})
        bench = Bench(None, tmp_path)
        await bench.soul.run("/model")
        await bench.soul.run("/model qwen-2")
        result = await bench.soul.run("Who are you?")
    assert "llama.cpp/qwen-2" in notices(bench)[0]
    assert result is not None
    assert result.answer_text == "I am local."


async def test_model_chooses_one(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    await bench.soul.run("/model rehearsal")
    assert bench.soul.model_name == "rehearsal"


async def test_in_a_chosen_rehearsal_the_user_is_asked_and_answers(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    bench.on(UserAsked, lambda asked: bench.runtime.questions.answer(asked.id, "It is me."))
    await bench.soul.run("/model rehearsal")
    result = await bench.soul.run("Who is it?")
    assert result is not None
    assert result.answer_text == "It is me."
    assert bench.said_of(UserAsked)[0].question == "Who is it?"


async def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    await bench.soul.run("/model rehersal")
    assert "Did you mean rehearsal" in notices(bench)[0]
    assert bench.soul.llm is None


async def test_a_skill_is_sent_with_the_request(tmp_path: Path) -> None:
    folder = tmp_path / "csv-profile"
    folder.mkdir()
    (folder / "SKILL.md").write_text("# Profile\n\nCount the rows.\n")
    async with openai_server(say("Done.")) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, skills=[FakeSkill("csv-profile", folder)]
        )
        await bench.soul.run("/skill:csv-profile look at sales.csv")
    prompt = bench.history[0][1]
    assert "Count the rows." in prompt
    assert str(folder / "SKILL.md") in prompt
    assert prompt.endswith("look at sales.csv")


async def test_a_skill_that_may_not_be_used_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: notes\n---\nObey.\n")
    async with openai_server() as server:
        skills = [FakeSkill("notes", tmp_path)]
        bench = Bench(await connect(server.base_url), tmp_path, skills=skills)
        bench.runtime.why_no_skill = lambda skill: f"{skill.name} is not trusted"
        await bench.soul.run("/skill:notes please")
        assert server.requests == []
    assert notices(bench) == ["notes is not trusted"]


async def test_a_skill_that_has_gone_is_told(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path, skills=[FakeSkill("gone", tmp_path / "gone" / "SKILL.md")])
    await bench.soul.run("/skill:gone")
    assert "cannot be read" in notices(bench)[0]


def names(soul: KimiSoul) -> list[str]:
    return [command.name for command in soul.available_slash_commands]


async def test_only_standard_skills_get_a_skill_command(tmp_path: Path) -> None:
    skills = [FakeSkill("a", tmp_path), FakeSkill("b", tmp_path, type="flow")]
    bench = Bench(None, tmp_path, skills=skills)
    assert "skill:a" in names(bench.soul)
    assert "skill:b" not in names(bench.soul)


async def test_the_table_is_made_anew_when_skills_change(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path, skills=[FakeSkill("a", tmp_path)])
    bench.runtime.skills = [FakeSkill("b", tmp_path)]
    bench.soul.rebuild_slash_commands()
    assert "skill:b" in names(bench.soul)
    assert "skill:a" not in names(bench.soul)


async def test_a_higher_room_adds_commands_and_gets_the_arguments(tmp_path: Path) -> None:
    got: list[tuple[KimiSoul, str]] = []

    async def run(soul: KimiSoul, args: str) -> None:
        got.append((soul, args))

    bench = Bench(None, tmp_path)
    bench.soul.add_commands(lambda: [SlashCommand("flow:release", "Release", run)])
    await bench.soul.run("/flow:release 1.2.0")
    assert got == [(bench.soul, "1.2.0")]


async def test_a_command_of_the_soul_is_not_displaced(tmp_path: Path) -> None:
    async def run(_: KimiSoul, __: str) -> None:
        raise AssertionError

    bench = Bench(None, tmp_path)
    bench.soul.add_commands(lambda: [SlashCommand("help", "Mine", run, aliases=("mine",))])
    await bench.soul.run("/help")
    assert names(bench.soul).count("help") == 1


async def test_commands_belong_to_their_soul(tmp_path: Path) -> None:
    async def run(_: KimiSoul, __: str) -> None: ...

    one, other = Bench(None, tmp_path), Bench(None, tmp_path)
    one.soul.add_commands(lambda: [SlashCommand("mine", "Mine", run)])
    assert "mine" not in names(other.soul)


async def test_a_command_without_a_model_tells_instead_of_raising(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    await bench.soul.run("/think on")
    assert "/model" in notices(bench)[0]


async def test_a_higher_room_may_take_a_plain_prompt_over(tmp_path: Path) -> None:
    taken: list[object] = []

    async def take(user_input: object) -> bool:
        taken.append(user_input)
        return True

    async with openai_server() as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        bench.soul.take_prompt = take
        assert await bench.soul.run("Loop on this") is None
        assert server.requests == []
    assert taken == ["Loop on this"]
