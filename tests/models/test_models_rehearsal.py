"""Rehearsal: a script, a seed or the user answers where a model would."""

from __future__ import annotations

from pathlib import Path

import pytest
from kosong.message import Message, TextPart

from flowstudio.flow.choice import choice_prompt, parse_choice, retry_prompt
from flowstudio.models import (
    AskUser,
    Question,
    RehearsalProvider,
    ScriptAnswers,
    ScriptExhausted,
    SeededWalk,
    TurnHint,
    load_script,
    turn_hint,
)
from flowstudio.models.rehearsal import PIECE
from flowstudio.soul.messages import system_message

CORPUS = Path(__file__).parent.parent / "corpus"


async def answer(provider: RehearsalProvider, hint: TurnHint | None, prompt: str = "Go") -> str:
    token = turn_hint.set(hint)
    try:
        stream = await provider.generate("", [], [Message(role="user", content=prompt)])
        parts = [part async for part in stream]
    finally:
        turn_hint.reset(token)
    return "".join(part.text for part in parts if isinstance(part, TextPart))


async def converse(
    provider: RehearsalProvider,
    hint: TurnHint,
    times: int,
    history: list[Message] | None = None,
) -> list[str]:
    """Ask for a choice, and again after each answer, as the flow runner does."""
    history = [] if history is None else history
    said: list[str] = []
    prompt = choice_prompt("Ready?", hint.branches)
    token = turn_hint.set(hint)
    try:
        for _ in range(times):
            # Checkpoints may tell the model their number in between.
            history += [system_message("CHECKPOINT"), Message(role="user", content=prompt)]
            stream = await provider.generate("", [], history)
            parts = [part async for part in stream]
            said.append("".join(part.text for part in parts if isinstance(part, TextPart)))
            history.append(Message(role="assistant", content=said[-1]))
            prompt = retry_prompt("Ready?", hint.branches, parse_choice(said[-1]))
    finally:
        turn_hint.reset(token)
    return said


def reply_of(provider: RehearsalProvider, node: str, visit: int, attempt: int) -> str:
    """A reply as it stands in the script."""
    assert isinstance(provider.answerer, ScriptAnswers)
    for decision in provider.answerer.script.decisions:
        if (decision.node, decision.visit) == (node, visit):
            return decision.replies[attempt - 1].text
    raise AssertionError


@pytest.fixture
def review() -> RehearsalProvider:
    script = load_script(CORPUS / "scripts" / "code-review-loop.script.yaml")
    return RehearsalProvider(ScriptAnswers(script))


VERDICT = ("ready to merge", "needs fixes")


async def test_a_task_gets_the_default_reply(review: RehearsalProvider) -> None:
    said = await answer(review, TurnHint("scope", 1))
    assert said == "Done. Notes are in the working directory."


async def test_a_plain_prompt_gets_the_default_reply(review: RehearsalProvider) -> None:
    assert await answer(review, None) == "Done. Notes are in the working directory."


async def test_a_visit_of_a_decision_gets_its_replies_in_order(review: RehearsalProvider) -> None:
    hint = TurnHint("verdict", 1, VERDICT)
    said = await converse(review, hint, 3)
    assert "<choice>" not in said[0]
    assert "<choice>request changes</choice>" in said[1]
    assert "<choice>needs fixes</choice>" in said[2]


async def test_a_visit_that_is_run_again_gets_its_replies_again(review: RehearsalProvider) -> None:
    """A second run in the same studio, a rewind and a resumed run ask the same visit anew."""
    hint = TurnHint("verdict", 1, VERDICT)
    history: list[Message] = []
    first = await converse(review, hint, 2, history)
    assert await converse(review, hint, 3, history) == [*first, reply_of(review, "verdict", 1, 3)]


async def test_each_visit_has_replies_of_its_own(review: RehearsalProvider) -> None:
    said = await answer(review, TurnHint("verdict", 2, VERDICT))
    assert said.rstrip().endswith("<choice>ready to merge</choice>")


async def test_an_attempt_that_the_hint_counts_is_taken_as_it_is(
    review: RehearsalProvider,
) -> None:
    said = await answer(review, TurnHint("verdict", 1, VERDICT, attempt=3))
    assert said == reply_of(review, "verdict", 1, 3)


async def test_a_visit_that_the_script_does_not_know_is_named(review: RehearsalProvider) -> None:
    with pytest.raises(ScriptExhausted, match="visit 9 of verdict") as caught:
        await answer(review, TurnHint("verdict", 9, VERDICT))
    assert (caught.value.node, caught.value.visit) == ("verdict", 9)


async def test_a_visit_whose_replies_are_used_up_is_named(review: RehearsalProvider) -> None:
    with pytest.raises(ScriptExhausted, match="1 replies for visit 1 of size are used up"):
        await converse(review, TurnHint("size", 1, ("one change", "many")), 2)


async def test_an_answer_comes_in_pieces_as_from_a_model(review: RehearsalProvider) -> None:
    stream = await review.generate("", [], [Message(role="user", content="Go")])
    parts = [part async for part in stream]
    assert len(parts) == -(-len("Done. Notes are in the working directory.") // PIECE)


@pytest.mark.parametrize("name", sorted(path.stem for path in (CORPUS / "scripts").iterdir()))
def test_every_script_of_the_corpus_opens_and_ends_each_visit_with_the_branch_it_takes(
    name: str,
) -> None:
    script = load_script(CORPUS / "scripts" / f"{name}.yaml")
    assert script.expected_end == "reached_end"
    for decision in script.decisions:
        assert [reply.valid for reply in decision.replies][-1]
        assert parse_choice(decision.replies[-1].text) == decision.takes


_ONE = "decisions:\n- node: a\n  replies: [{text: x}]\n"
WRONG = {
    "no YAML": ("decisions: [", "1:13: the script is no valid YAML"),
    "no mapping": ("- a\n- b\n", "1:1: a script is a mapping"),
    "a wrong key": (
        "story: x\ndecision: []\n",
        "2:1: a script has no key “decision”; did you mean “decisions”?",
    ),
    "a key like none": (
        "decisions:\n- node: a\n  zzz: 1\n  replies: [{text: x}]\n",
        "3:3: a decision has no key “zzz”; it may have node, visit, takes, replies",
    ),
    "a wrong key in a reply": (
        "decisions:\n- node: a\n  replies: [{txt: x}]\n",
        "3:14: a reply has no key “txt”; did you mean “text”?",
    ),
    "a key that is no text": (
        f"{_ONE}7: x\n",
        "4:1: to YAML this key is no text: put it in quotes",
    ),
    "no replies": (
        "decisions:\n- node: a\n  visit: 1\n  replies: []\n",
        "4:12: “replies” must not be empty",
    ),
    "visit zero": (
        "decisions:\n- node: a\n  visit: 0\n  replies:\n  - text: x\n",
        "3:10: “visit” must be at least 1",
    ),
    "visit in words": (
        "decisions:\n- node: a\n  visit: first\n  replies:\n  - text: x\n",
        "3:10: “visit” must be a whole number",
    ),
    "a text that YAML reads otherwise": (
        "decisions:\n- node: yes\n  replies:\n  - text: x\n",
        "2:9: “node” must be a text: put it in quotes",
    ),
    "neither true nor false": (
        "decisions:\n- node: a\n  replies: [{text: x, valid: maybe}]\n",
        "3:30: “valid” must be true or false",
    ),
    "no list": ("decisions: a\n", "1:12: “decisions” must be a list"),
    "an entry that is no mapping": (
        "decisions:\n- a\n",
        "2:3: each entry of “decisions” is a mapping of node, visit, takes, replies",
    ),
    "a reply that is no mapping": (
        "decisions:\n- node: a\n  replies: [x]\n",
        "3:13: each entry of “replies” is a mapping of text, valid",
    ),
    "node missing": (
        "decisions:\n- visit: 1\n  replies:\n  - text: x\n",
        "2:3: a decision needs the key “node”",
    ),
    "scripted twice": (f"{_ONE}- node: a\n  replies: [{{text: y}}]\n", "4:3: visit 1 of a is"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_script_is_refused_with_file_line_and_column(tmp_path: Path, wrong: str) -> None:
    from flowstudio.models import ModelError

    text, told = WRONG[wrong]
    file = tmp_path / "a.script.yaml"
    file.write_text(text)
    with pytest.raises(ModelError) as error:
        load_script(file)
    # One fault, one sentence: a key that is mistyped is not missing too.
    assert [line.startswith(f"{file}:{told}") for line in str(error.value).split("\n")] == [True]


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    from flowstudio.models import ModelError

    with pytest.raises(ModelError, match="cannot be read"):
        load_script(tmp_path / "none.yaml")


async def test_the_same_seed_walks_the_same_way() -> None:
    branches = ("a", "b", "c", "d")
    hints = [TurnHint(node, visit, branches) for node in "xyz" for visit in range(1, 9)]
    one = RehearsalProvider(SeededWalk(7))
    other = RehearsalProvider(SeededWalk(7))
    said = [await answer(one, hint) for hint in hints]
    assert said == [await answer(other, hint) for hint in hints]
    # A run that is resumed in the middle goes on as it would have.
    assert [await answer(RehearsalProvider(SeededWalk(7)), hint) for hint in hints[5:]] == said[5:]


def test_seeds_differ() -> None:
    branches = tuple("abcdef")
    first = {SeededWalk(seed).choose("x", 1, branches) for seed in range(40)}
    assert len(first) > 2


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_takes_every_branch_before_it_repeats_one(seed: int) -> None:
    walk = SeededWalk(seed)
    branches = ("again", "back", "out")
    for lap in range(3):
        visits = range(lap * 3 + 1, lap * 3 + 4)
        assert {walk.choose("x", visit, branches) for visit in visits} == set(branches)


async def test_a_walk_that_is_asked_nothing_says_a_sentence() -> None:
    said = await answer(RehearsalProvider(SeededWalk(1)), TurnHint("scope", 2))
    assert said == "Rehearsed scope (visit 2)."


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("yes", "<choice>yes</choice>"),
        (" YES. ", "<choice>yes</choice>"),
        ("Fine. <choice>no</choice>", "Fine. <choice>no</choice>"),
        ("perhaps", "perhaps"),
    ],
)
async def test_the_user_may_answer_with_the_bare_branch(typed: str, taken: str) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        return typed

    provider = RehearsalProvider(AskUser(ask))
    said = await answer(provider, TurnHint("gate", 2, ("yes", "no")), "Publish?")
    assert said == taken
    assert asked == [Question("Publish?", "gate", 2, ("yes", "no"))]


async def test_without_branches_the_users_words_stay_as_they_are() -> None:
    async def ask(_: Question) -> str:
        return "yes"

    assert await answer(RehearsalProvider(AskUser(ask)), None) == "yes"


async def test_a_rehearsal_says_who_answers() -> None:
    async def ask(_: Question) -> str:
        return ""

    script = load_script(CORPUS / "scripts" / "code-review-loop.script.yaml")
    answerers = [ScriptAnswers(script), SeededWalk(1), AskUser(ask)]
    assert [RehearsalProvider(one).answers_as for one in answerers] == ["script", "seed", "user"]
