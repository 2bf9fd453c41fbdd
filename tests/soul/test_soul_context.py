"""The context: what it holds, what it can go back to, and what a kill leaves of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from kosong.message import ImageURLPart, Message, TextPart, ThinkPart, ToolCall

from flowstudio.soul import Context, ContextError
from flowstudio.soul.context import copy_beginning
from tests.soul.bench import check_accepted


def user(text: str) -> Message:
    return Message(role="user", content=text)


def texts(context: Context) -> list[str]:
    return [message.extract_text() for message in context.history]


def calling(*ids: str) -> Message:
    calls = [
        ToolCall(id=one, function=ToolCall.FunctionBody(name="Think", arguments="{}"))
        for one in ids
    ]
    return Message(role="assistant", content="", tool_calls=calls)


@pytest.fixture(params=["memory", "disk"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Context:
    return Context(tmp_path / "context.jsonl" if request.param == "disk" else None)


def test_a_revert_goes_back_to_how_it_was_when_the_checkpoint_was_made(context: Context) -> None:
    context.append_message(user("a"))
    assert context.checkpoint() == 0
    context.append_message(user("b"))
    assert context.checkpoint() == 1
    context.append_message(user("c"))
    context.revert_to(1)
    assert texts(context) == ["a", "b"]
    assert context.n_checkpoints == 1


def test_after_a_revert_the_checkpoint_can_be_made_anew(context: Context) -> None:
    context.checkpoint()
    context.append_message(user("a"))
    context.revert_to(0)
    assert texts(context) == []
    assert context.checkpoint() == 0


def test_a_conversation_can_begin_again_from_a_checkpoint(context: Context) -> None:
    context.append_message(user("a"))
    context.checkpoint()
    context.append_message(user("b"))
    context.begin_again(0, [user("c"), user("d")], add_user_message=True)
    assert texts(context) == ["a", "<system>CHECKPOINT 0</system>", "c", "d"]
    assert context.n_checkpoints == 1


def test_it_can_begin_again_where_no_checkpoint_was_made(context: Context) -> None:
    context.append_message(user("a"))
    context.begin_again(0, [user("c")])
    assert texts(context) == ["c"]
    assert context.n_checkpoints == 1


def test_a_kill_while_it_begins_again_leaves_the_old_conversation_or_the_new_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.checkpoint()
    context.append_message([user("a"), user("b")])
    before = file.stat().st_size
    context.begin_again(0, [user("summary"), user("kept")])
    whole = file.read_bytes()
    for length in range(before, len(whole) + 1):
        file.write_bytes(whole[:length])
        cut = Context(file)
        assert texts(cut) == (["summary", "kept"] if length == len(whole) else ["a", "b"])
        assert cut.n_checkpoints == 1
        cut.append_message(user("more"))
        assert texts(Context(file))[-1] == "more"


def test_a_checkpoint_that_does_not_exist_is_refused(context: Context) -> None:
    context.checkpoint()
    with pytest.raises(ContextError, match="no checkpoint 1"):
        context.revert_to(1)


def test_a_checkpoint_can_tell_the_model_its_number(context: Context) -> None:
    context.checkpoint(add_user_message=True)
    assert texts(context) == ["<system>CHECKPOINT 0</system>"]
    context.revert_to(0)
    assert texts(context) == []


def test_every_position_can_be_returned_to_even_across_a_revert(context: Context) -> None:
    context.checkpoint()
    context.append_message(user("a"))
    here = context.position
    context.append_message(user("b"))
    context.revert_to(0)
    context.append_message(user("c"))
    context.rewind(here)
    assert texts(context) == ["a"]
    assert context.n_checkpoints == 1


def test_the_token_count_goes_back_with_the_rest(context: Context) -> None:
    context.checkpoint()
    context.append_step(user("a"), [], tokens=500)
    assert context.token_count == 500
    context.revert_to(0)
    assert context.token_count == 0


def test_tokens_of_messages_after_the_servers_count_are_estimated(context: Context) -> None:
    result = Message(role="tool", tool_call_id="1", content="x" * 400)
    context.append_step(calling("1"), [result], tokens=500)
    assert 600 <= context.token_count < 620


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "context.jsonl"
    context = Context(file)
    context.checkpoint()
    context.append_message(user("line one\nline two 你好 \u2028 end"))
    context.append_step(
        Message(
            role="assistant",
            content=[ThinkPart(think="hm", encrypted="sig"), TextPart(text="ok")],
            tool_calls=calling("1").tool_calls,
        ),
        [Message(role="tool", tool_call_id="1", content="done")],
        tokens=77,
    )
    picture = ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:image/png;base64,AA=="))
    context.append_message(Message(role="user", content=[TextPart(text="see"), picture]))
    again = Context(file)
    assert list(again.history) == list(context.history)
    assert again.token_count == context.token_count
    assert again.n_checkpoints == 1
    assert again.position == context.position


def test_nothing_is_ever_rewritten_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.checkpoint()
    context.append_message(user("a"))
    before = file.read_bytes()
    context.revert_to(0)
    context.clear()
    assert file.read_bytes().startswith(before)


def test_going_back_is_on_disk_for_good_before_anything_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a power cut could keep what came after a revert and lose the revert."""
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.checkpoint()
    context.append_message(user("a"))
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    context.revert_to(0)
    assert synced == [file.stat().st_size]


def test_a_file_cut_at_any_byte_opens_and_can_be_written_on(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.checkpoint()
    context.append_message(user("a"))
    context.append_step(
        calling("1", "2"), [Message(role="tool", tool_call_id=one, content="done") for one in "12"]
    )
    context.revert_to(0)
    context.append_message(user("ü"))
    whole = file.read_bytes()
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        cut = Context(file)
        check_accepted(cut.history)
        cut.append_message(user("more"))
        again = Context(file)
        assert texts(again)[-1] == "more"
        assert list(again.history) == list(cut.history)


def test_a_damaged_record_in_the_middle_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    for text in "abc":
        context.append_message(user(text))
    lines = file.read_text().splitlines()
    lines[1] = lines[1][:-3]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ContextError, match=r"context\.jsonl:2"):
        Context(file)


@pytest.mark.parametrize(
    "record",
    [
        {"role": "_rewind", "to": 99},
        {"role": "_rewind"},
        {"role": "_future"},
        {"role": "nobody", "content": "x"},
        {"role": "user", "content": [{"type": "no such part"}]},
        {"role": "user", "content": 7},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]},
        ["no", "object"],
    ],
)
def test_a_record_without_sense_is_refused(tmp_path: Path, record: object) -> None:
    file = tmp_path / "context.jsonl"
    file.write_text(json.dumps(record) + "\n")
    with pytest.raises(ContextError, match=r"context\.jsonl.*not a record"):
        Context(file)


def test_a_call_in_flight_when_the_process_died_gets_a_result_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.append_message(user("a"))
    context.append_message(calling("1", "2"))
    context.append_message(Message(role="tool", tool_call_id="1", content="done"))
    again = Context(file)
    check_accepted(again.history)
    assert "interrupted" in texts(again)[-1]


def test_what_a_full_disk_refuses_is_kept_until_there_is_room_and_leaves_no_half_record(
    tmp_path: Path,
) -> None:
    """A limit on the file's size stands in for a full disk: the kernel refuses in mid-write."""
    script = """
import resource, signal, sys
from pathlib import Path
from flowstudio.soul.context import Context
from kosong.message import Message
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = Path(sys.argv[1])
context = Context(file)
context.append_message(Message(role="user", content="small"))
context.sync()
size = file.stat().st_size
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
context.append_message(Message(role="user", content="x" * 5000))
context.append_message(Message(role="user", content="y"))
try:
    context.sync()
except OSError:
    print(len(context.history), len(Context(file).history))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
context.append_message(Message(role="user", content="z"))
context.sync()
print([message.extract_text()[0] for message in Context(file).history])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "context.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["3 1", "['s', 'x', 'y', 'z']"]


def test_after_a_failed_sync_all_that_was_not_on_disk_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system that failed to sync may hold what it lost as written."""
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.append_message(user("a"))
    context.sync()
    kept = file.read_bytes()
    context.append_message(user("b"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _refuse)
        with pytest.raises(OSError):
            context.sync()
    lost = len(file.read_bytes()) - len(kept)
    file.write_bytes(kept + b"\0" * lost)
    context.sync()
    assert texts(Context(file)) == ["a", "b"]


def _refuse(_: int) -> None:
    raise OSError(5, "Input/output error")


def test_a_sync_with_nothing_new_asks_nothing_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Context(tmp_path / "context.jsonl")
    context.append_message(user("a"))
    context.sync()
    monkeypatch.setattr(os, "fsync", _refuse)
    context.sync()


def test_it_opens_at_a_position_whatever_lies_behind(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    context = Context(file)
    context.append_message([user("a"), user("b")])
    here, kept = context.position, file.read_bytes()
    for behind in (b"", b'{"role": "user", "content": "c"}\n', b"\0" * 30 + b"\n{}\n", b'{"ro'):
        file.write_bytes(kept + behind)
        again = Context(file, at=here)
        assert texts(again) == ["a", "b"]
        again.append_message(user("d"))
        assert texts(Context(file)) == ["a", "b", "d"]
    aside = list(tmp_path.glob("context.jsonl.damaged-*"))
    assert [one.read_bytes() for one in aside] == [b"\0" * 30 + b"\n{}\n"]


def test_a_position_that_the_file_does_not_reach_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "context.jsonl"
    with pytest.raises(ContextError, match="gone"):
        Context(file, at=1)
    Context(file).append_message(user("a"))
    with pytest.raises(ContextError, match="before record 3"):
        Context(file, at=3)


def test_the_beginning_of_a_file_is_copied_byte_for_byte(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    context = Context(one)
    context.append_message(user("a"))
    context.checkpoint()
    context.revert_to(0)
    here, kept = context.position, one.read_bytes()
    context.append_message(user("b"))
    copy_beginning(one, two, here)
    assert two.read_bytes() == kept
    assert Context(two).position == here
    with pytest.raises(ContextError, match="no record 99"):
        copy_beginning(one, tmp_path / "three.jsonl", 99)
    with pytest.raises(FileExistsError):
        copy_beginning(one, two, here)


def _kill_while_writing(file: Path, told: Path) -> None:
    """Kill a process that writes and reverts; it tells how many messages it was promised."""
    script = """
import os, sys
from pathlib import Path
from flowstudio.soul.context import Context
from kosong.message import Message
context = Context(Path(sys.argv[1]))
told = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    context.checkpoint()
    for number in range(5):
        context.append_message(Message(role="user", content=f"{number}" * 50))
    context.revert_to(context.n_checkpoints - 1)
    context.checkpoint()
    context.append_message(Message(role="user", content="kept"))
    os.write(told, b".")
"""
    before = told.stat().st_size if told.exists() else 0
    process = subprocess.Popen([sys.executable, "-c", script, str(file), str(told)])
    while not told.exists() or told.stat().st_size < before + 5:
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def _check_killed(tmp_path: Path, rounds: int) -> None:
    file, told = tmp_path / "context.jsonl", tmp_path / "told"
    for number in range(1, rounds + 1):
        _kill_while_writing(file, told)
        kept = [text for text in texts(Context(file)) if text == "kept"]
        promised = told.stat().st_size
        # One more may be on disk without having been told, once per kill.
        assert promised <= len(kept) <= promised + number


def test_a_kill_at_any_instant_leaves_a_context_that_opens(tmp_path: Path) -> None:
    _check_killed(tmp_path, 3)


@pytest.mark.long
def test_a_hundred_kills_leave_a_context_that_opens(tmp_path: Path) -> None:
    _check_killed(tmp_path, 100)


def test_a_copy_holds_the_conversation_at_a_position_and_leaves_the_original_alone(
    tmp_path: Path,
) -> None:
    context = Context(tmp_path / "one.jsonl")
    context.checkpoint()
    context.append_step(user("a"), [], tokens=50)
    here = context.position
    context.append_message(user("b"))
    before = (tmp_path / "one.jsonl").read_bytes()
    copy = context.copy_to(tmp_path / "two.jsonl", here)
    copy.append_message(user("c"))
    assert texts(copy) == ["a", "c"]
    assert copy.n_checkpoints == 1
    assert (tmp_path / "one.jsonl").read_bytes() == before
    assert texts(context) == ["a", "b"]


def test_a_copy_has_the_token_count_of_its_position(tmp_path: Path) -> None:
    context = Context(tmp_path / "one.jsonl")
    context.append_step(user("a"), [], tokens=50)
    assert context.copy_to(tmp_path / "two.jsonl").token_count == 50


def test_a_copy_never_overwrites_a_file(tmp_path: Path) -> None:
    taken = tmp_path / "two.jsonl"
    taken.write_text("precious")
    with pytest.raises(FileExistsError):
        Context(tmp_path / "one.jsonl").copy_to(taken)
    assert taken.read_text() == "precious"


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 99)),
        st.tuples(st.just("mark"), st.just(0)),
        st.tuples(st.just("revert"), st.integers(0, 9)),
        st.tuples(st.just("rewind"), st.integers(0, 40)),
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_memory_disk_and_a_simple_model_always_agree(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """The model keeps a whole copy of the state for each position."""
    file = tmp_path_factory.mktemp("context") / "context.jsonl"
    memory, disk = Context(), Context(file)
    states: list[tuple[list[str], list[list[str]]]] = [([], [])]
    for what, number in steps:
        said, marks = states[-1]
        match what:
            case "say":
                states.append(([*said, str(number)], marks))
                for one in (memory, disk):
                    one.append_message(user(str(number)))
            case "mark":
                states.append((said, [*marks, said]))
                for one in (memory, disk):
                    one.checkpoint()
            case "revert" if number < len(marks):
                states.append((marks[number], marks[:number]))
                for one in (memory, disk):
                    one.revert_to(number)
            case "rewind" if number < len(states):
                states.append(states[number])
                for one in (memory, disk):
                    one.rewind(number)
            case _:
                pass
    said, marks = states[-1]
    for one in (memory, disk, Context(file)):
        assert texts(one) == said
        assert one.n_checkpoints == len(marks)
        assert one.position == len(states) - 1


def test_ten_thousand_messages_open_without_quadratic_work(tmp_path: Path) -> None:
    """Counted in calls, not in seconds."""
    file = tmp_path / "context.jsonl"
    line = json.dumps({"role": "user", "content": "hello"}) + "\n"
    marks = json.dumps({"role": "_checkpoint", "id": 0}) + "\n"
    file.write_text((marks + line) * 5_000 + json.dumps({"role": "_rewind", "to": 10}) + "\n")
    context = Context(file)
    assert len(context.history) == 5
    assert context.position == 10_001
