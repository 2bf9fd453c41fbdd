"""What the chat makes of events, without a screen: what is folded, what it opens to, its words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flowstudio.studio.chat_entries import Entry, Said
from flowstudio.studio.chat_feed import ChatFeed
from flowstudio.studio.chat_lines import plain
from flowstudio.studio.chat_log import ChatLog
from flowstudio.studio.chat_tools import Call
from flowstudio.studio.keymap import Keymap, read_keymap, use_keymap
from flowstudio.wire import (
    Body,
    ChoiceMade,
    Event,
    NodeEntered,
    PromptSent,
    RunPaused,
    RunResumed,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
)


@pytest.fixture
def log() -> ChatLog:
    return ChatLog()


@pytest.fixture
def feed(log: ChatLog) -> ChatFeed:
    return ChatFeed(log)


@pytest.fixture
def usual_keys() -> Iterator[None]:
    yield
    use_keymap(Keymap())


def tell(feed: ChatFeed, *bodies: Body, node: str | None = "write") -> None:
    for body in bodies:
        feed.consume(Event(body, "run", 0.0, node, 1))


def shown(entry: Entry, width: int = 60) -> list[str]:
    return [plain(line) for line in entry.lines(width)]


def test_a_prompt_opens_to_what_was_sent(feed: ChatFeed, log: ChatLog) -> None:
    entered = NodeEntered(1, "task", "Write about {{what}}\nin short", 1)
    tell(feed, entered, PromptSent("Write about the sea\nin short"))
    (entry,) = log.stack.entries
    assert shown(entry) == ["write  Write about {{what}}"]
    entry.toggle()
    assert shown(entry)[1:] == ["  Write about the sea", "  in short"]
    assert entry.source == "Write about the sea\nin short"


def test_a_tool_call_opens_to_its_change_and_its_output(feed: ChatFeed, log: ChatLog) -> None:
    arguments = '{"path": "a.py", "edits": [{"old": "x = 1\\ny = 2", "new": "x = 1\\ny = 3"}]}'
    call = ToolCalled("1", "StrReplaceFile", arguments)
    tell(feed, call, ToolReturned("1", "StrReplaceFile", True, "1 place", "it is done", 0.2))
    (entry,) = log.stack.entries
    assert shown(entry) == ["⚙ StrReplaceFile a.py 1 edit", "  ✓ 0.2s  1 place"]
    entry.toggle()
    assert [line.strip() for line in shown(entry)[2:5]] == ["x = 1", "-y = 2", "+y = 3"]
    assert "it is done" in "\n".join(shown(entry))
    roles = {plain(line).strip(): line[-1][1] for line in entry.lines(60)[2:5]}
    assert roles == {"x = 1": "muted", "-y = 2": "fault", "+y = 3": "done"}


def test_thinking_shows_its_end_while_it_comes_and_then_folds(feed: ChatFeed, log: ChatLog) -> None:
    tell(feed, *(Thinking(f"thought {number}. ") for number in range(100)))
    (entry,) = log.stack.entries
    assert len(shown(entry)) == 3
    assert "thought 99." in shown(entry)[-1]
    tell(feed, Text("So."))
    assert len(shown(entry)) == 1
    entry.toggle()
    assert "thought 0." in shown(entry)[1]


def test_a_pause_offers_the_keys_that_are_in_force(
    feed: ChatFeed, log: ChatLog, usual_keys: None
) -> None:
    use_keymap(read_keymap({"run.step": "f7"}))
    paused = RunPaused("step", "before “write”")
    tell(feed, NodeEntered(1, "task", "Write", 1), paused)
    assert "f7  sends it, then pauses" in log.text
    assert "1-9" not in log.text, "a task has no branches"
    tell(feed, RunResumed("step"))
    assert "sends it" not in log.text
    tell(feed, NodeEntered(2, "decision", "Good?", 1), paused, node="good")
    assert "1-9  takes that branch unasked" in log.text


def test_a_forced_branch_never_looks_like_one_that_the_model_chose(
    feed: ChatFeed, log: ChatLog
) -> None:
    entered = NodeEntered(1, "decision", "Good?", 1)
    tell(feed, entered, ChoiceMade("yes", "user", "no", True), node="good")
    visit, choice = log.stack.entries
    assert visit.bar == "forced"
    assert choice.plain == "⇢ yes   you, over the model’s “no”"
    assert {role.split()[0] for _, role in choice.head[0]} == {"forced"}


def test_what_the_user_typed_is_folded_where_it_is_long_and_copied_whole() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    said = Said(text)
    assert len(shown(said)) == 9
    assert "100 lines" in shown(said)[-1]
    assert said.source == text
    said.toggle()
    assert len(shown(said)) == 100


def test_escapes_of_a_model_reach_no_terminal(feed: ChatFeed, log: ChatLog) -> None:
    bad = "a\x1b]52;c;eA==\x07b\x9b31m"
    call = ToolCalled("1", bad, f'{{"x": "{bad}"}}')
    result = ToolReturned("1", bad, True, bad, bad, 0.1)
    tell(feed, Thinking(bad), Text(f"{bad}\n```{bad}\n{bad}\n```"), call, result)
    tell(feed, ChoiceMade(bad, "model"), RunPaused("step", bad))
    for entry in log.stack.entries:
        entry.is_open = True
        for text in (*shown(entry), entry.plain):
            assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_a_text_in_a_call_counts_as_many_lines_as_its_file_will_have() -> None:
    written = Call("WriteFile", '{"path": "a.txt", "content": "one\\ntwo\\nthree\\n"}')
    assert "a.txt content of 3 lines" in shown(written)[0]
