"""One decision, asked many times from the same conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flowstudio.config import Config, LoopControl
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models import LLM, Question as Asked, RehearsalProvider
from flowstudio.run.folder import RunFolder
from flowstudio.run.session import RunRequest, Session
from flowstudio.run.stability import Question, Split, ask_often, find_history, make_question
from flowstudio.soul import Agent, Runtime, StudioToolset
from flowstudio.wire import Wire
from tests.run.rig import FORK, PATIENCE, Answers, broken, choose

FLOW = parse_mermaid_flowchart(FORK.replace("good?", "is $ARGUMENTS good for {{who}}?"))


async def ask(question: Question, replies: Sequence[Any], **more: Any) -> tuple[Split, Answers]:
    answers = Answers({"q": list(replies)})
    llm = LLM(RehearsalProvider(answers), "m", "m", None)
    split = await ask_often(
        question,
        more.pop("times", len(replies)),
        llm=llm,
        config=Config(loop=LoopControl(max_retries_per_step=0)),
        work_dir=Path.cwd(),
        **more,
    )
    return split, answers


def question(**more: Any) -> Question:
    return make_question(FLOW, "q", more.get("text", "it"), {"who": "us"})


async def test_the_split_counts_each_branch_and_those_that_were_never_chosen() -> None:
    split, _ = await ask(question(), [choose("yes")] * 3)
    assert split.counts == {"yes": 3, "no": 0}
    assert split.agreement == 1.0


async def test_answers_without_a_branch_and_failed_calls_are_counted_apart() -> None:
    replies = [choose("yes"), choose("maybe"), "hm", broken("no line")]
    split, _ = await ask(question(), replies, parallel=1)
    assert split.counts == {"yes": 1, "no": 0}
    assert [one.got for one in split.invalid] == ["maybe", None]
    assert ["no line" in (one.failed or "") for one in split.failed] == [True]
    assert split.agreement == pytest.approx(1 / 3)
    assert split.to_json()["invalid"][0] == {"got": "maybe", "text": choose("maybe")}


async def test_nobody_asks_again_after_an_answer_without_a_branch() -> None:
    _, answers = await ask(question(), ["hm"], times=2)
    assert len(answers.questions) == 2


async def test_the_prompt_is_the_one_of_a_run_with_its_input_filled_in() -> None:
    _, answers = await ask(question(text="the draft"), [choose("yes")])
    assert answers.questions[0].prompt.startswith(
        "is the draft good for us?\n\nAvailable branches:"
    )


async def test_no_more_questions_are_on_than_were_allowed() -> None:
    most = 0
    now = 0

    class Slow(Answers):
        async def answer(self, question: Asked) -> str:
            nonlocal most, now
            now += 1
            most = max(most, now)
            # The others get every chance to overtake.
            for _ in range(20):
                await asyncio.sleep(0)
            now -= 1
            return choose("yes")

    llm = LLM(RehearsalProvider(Slow()), "m", "m", None)
    await ask_often(question(), 12, llm=llm, config=Config(), work_dir=Path.cwd(), parallel=3)
    assert most == 3


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("a", "“a” has nothing to choose; its decisions are: q"),
        ("x", "“x” is no node of this flow"),
    ],
)
def test_only_a_decision_can_be_asked(node: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_question(FLOW, node, "", {})


# From where a run stood


@pytest.fixture
async def run(tmp_path: Path) -> RunFolder:
    """A run that came to `q` twice."""
    answers = Answers({"a": ["first work", "second work"], "q": [choose("no"), choose("yes")]})
    runtime = Runtime.create(
        Config(), Wire(), work_dir=Path.cwd(), policy="reject",
        llm=LLM(RehearsalProvider(answers), "m", "m", None),
    )  # fmt: skip
    session = Session(runtime, Agent("t", "", StudioToolset([])), runs_dir=tmp_path)
    async with asyncio.timeout(PATIENCE):
        await session.run_flow(RunRequest(FLOW, "fork", input="it", variables={"who": "us"}))
    assert session.folder is not None
    return session.folder


def talk(folder: RunFolder, move: int | None) -> list[str]:
    return [one.extract_text() for one in find_history(folder, "q", move)]


async def test_the_conversation_is_the_one_before_that_visit(run: RunFolder) -> None:
    first, second = talk(run, 3), talk(run, 5)
    assert any("first work" in text for text in first)
    assert not any("second work" in text or "<choice>" in text for text in first)
    assert any("second work" in text for text in second)
    assert any("<choice>no</choice>" in text for text in second)
    assert not any("<choice>yes</choice>" in text for text in second)
    assert talk(run, None) == second


async def test_looking_into_a_run_changes_no_byte_of_it(run: RunFolder) -> None:
    before = {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()}
    find_history(run, "q", 3)
    assert {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("node", "move", "said"),
    [
        ("q", 2, "entered “a” at move 2"),
        ("q", 99, "never entered “q”"),
        ("x", None, "never entered “x”"),
    ],
)
async def test_a_visit_that_was_never_made_is_refused(
    run: RunFolder, node: str, move: int | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        find_history(run, node, move)


async def test_each_question_is_asked_behind_the_conversation(run: RunFolder) -> None:
    asked = make_question(FLOW, "q", "it", {"who": "us"}, find_history(run, "q", 5))
    split, answers = await ask(asked, [choose("yes")], times=3)
    assert split.counts["yes"] == 3
    assert all(one.attempt == 1 for one in answers.questions)
