"""Each write of a tool can be taken back, as long as nobody else has changed the file since."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kosong.message import ToolCall
from kosong.tooling import ToolReturnValue

from flowstudio.config import Config
from flowstudio.soul import Runtime
from flowstudio.soul.tools import TOOL_NAMES, make_tools
from flowstudio.soul.undo import UndoError, UndoLog
from flowstudio.wire import ApprovalAsked, Event, Notice, Wire
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import Bench, connect


class Hands:
    """The file tools in a folder, with the log of what they wrote."""

    def __init__(self, folder: Path, log: Path | None = None) -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        wire = Wire()
        self.asked: list[ApprovalAsked] = []
        wire.subscribe(self._note)
        self.runtime = Runtime.create(Config(), wire, work_dir=self.work, policy="allow")
        if log is not None:
            self.runtime.undo.open(log)
        self.tools = make_tools(self.runtime, TOOL_NAMES)

    def _note(self, event: Event) -> None:
        if isinstance(event.body, ApprovalAsked):
            self.asked.append(event.body)

    @property
    def undo(self) -> UndoLog:
        return self.runtime.undo

    async def __call__(self, tool: str, /, **arguments: Any) -> ToolReturnValue:
        body = ToolCall.FunctionBody(name=tool, arguments=json.dumps(arguments))
        handled = self.tools.handle(ToolCall(id="1", function=body))
        result = await handled if isinstance(handled, asyncio.Future) else handled
        return result.return_value


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return Hands(tmp_path)


# What is asked for


async def test_a_change_is_asked_for_with_its_diff_as_a_field_of_its_own(hands: Hands) -> None:
    (hands.work / "a.txt").write_text("one\ntwo\nthree\n")
    await hands("StrReplaceFile", path="a.txt", edits=[{"old": "two", "new": "zwei"}])
    assert hands.asked[0].diff.splitlines() == [
        "--- a.txt",
        "+++ a.txt",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+zwei",
        " three",
    ]


async def test_a_new_file_is_a_diff_from_nothing(hands: Hands) -> None:
    await hands("WriteFile", path="a.txt", content="one\ntwo\n")
    assert hands.asked[0].diff.splitlines() == [
        "--- /dev/null",
        "+++ a.txt",
        "@@ -0,0 +1,2 @@",
        "+one",
        "+two",
    ]


async def test_a_diff_is_bounded_and_what_is_no_change_of_a_file_has_none(hands: Hands) -> None:
    await hands("WriteFile", path="a.txt", content="line\n" * 100_000)
    assert len(hands.asked[0].diff.splitlines()) < 500
    await hands("Shell", command="true")
    assert hands.asked[1].diff == ""


# Taking back


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("WriteFile", {"content": "new"}),
        ("WriteFile", {"content": "more", "mode": "append"}),
        ("StrReplaceFile", {"edits": [{"old": "ö", "new": "x"}]}),
    ],
)
async def test_a_file_comes_back_byte_by_byte_with_its_mode(
    hands: Hands, tool: str, arguments: dict[str, Any]
) -> None:
    file = hands.work / "a.sh"
    file.write_bytes("söme\r\ntext".encode())
    file.chmod(0o750)
    await hands(tool, path="a.sh", **arguments)
    file.chmod(0o640)
    hands.undo.revert(hands.undo.writes[-1])
    assert file.read_bytes() == "söme\r\ntext".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert hands.undo.writes == ()


async def test_a_file_that_was_created_goes_with_the_folders_made_for_it(hands: Hands) -> None:
    (hands.work / "kept").mkdir()
    await hands("WriteFile", path="kept/new/deep/a.txt", content="x")
    hands.undo.revert(hands.undo.writes[-1])
    assert [one.name for one in hands.work.rglob("*")] == ["kept"]


async def test_a_folder_that_others_use_by_now_stays(hands: Hands) -> None:
    await hands("WriteFile", path="new/a.txt", content="x")
    (hands.work / "new" / "b.txt").write_text("someone else's")
    hands.undo.revert(hands.undo.writes[-1])
    assert [one.name for one in (hands.work / "new").iterdir()] == ["b.txt"]


async def test_several_writes_of_one_file_are_taken_back_newest_first(hands: Hands) -> None:
    for text in ("one", "two", "three"):
        await hands("WriteFile", path="a.txt", content=text)
    seen: list[str | None] = []
    for write in hands.undo.since(0):
        hands.undo.revert(write)
        file = hands.work / "a.txt"
        seen.append(file.read_text() if file.exists() else None)
    assert seen == ["two", "one", None]


@pytest.mark.parametrize(
    ("meanwhile", "told"),
    [
        (lambda file: file.write_text("the user's own words"), "was changed since"),
        (lambda file: file.unlink(), "was removed since"),
        (lambda file: (file.unlink(), file.mkdir()), "was changed since"),
        (lambda file: (file.unlink(), file.symlink_to("/etc/hostname")), "was changed since"),
    ],
)
async def test_what_someone_else_changed_since_is_not_lost(
    hands: Hands, meanwhile: Callable[[Path], object], told: str
) -> None:
    file = hands.work / "a.txt"
    file.write_text("before")
    await hands("WriteFile", path="a.txt", content="after")
    meanwhile(file)
    with pytest.raises(UndoError, match=told) as caught:
        hands.undo.revert(hands.undo.writes[-1])
    kept = str(caught.value).split(" is in ")[1].rstrip(".")
    assert await asyncio.to_thread(Path(kept).read_text) == "before"
    assert len(hands.undo.writes) == 1


async def test_a_write_that_failed_leaves_nothing_to_take_back(hands: Hands) -> None:
    (hands.work / "a.txt").write_text("x")
    assert (await hands("WriteFile", path="a.txt/b.txt", content="x")).is_error
    assert hands.undo.writes == ()


async def test_where_the_former_text_cannot_be_kept_nothing_is_written(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("a file where the folder should be")
    hands = Hands(tmp_path)
    (hands.work / "a.txt").write_text("before")
    hands.undo.open(log)
    value = await hands("WriteFile", path="a.txt", content="after")
    assert "cannot be kept" in value.message
    assert (hands.work / "a.txt").read_text() == "before"


async def test_the_log_is_for_its_owner_alone(tmp_path: Path) -> None:
    hands = Hands(tmp_path, tmp_path / "log")
    (hands.work / "a.txt").write_text("secret")
    await hands("WriteFile", path="a.txt", content="x")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "log").iterdir()}
    assert modes == {"undo.jsonl": 0o600, "1.before": 0o600}


# Another process


async def test_another_process_goes_on_with_the_log(tmp_path: Path) -> None:
    first = Hands(tmp_path, tmp_path / "log")
    (first.work / "a.txt").write_text("before")
    for text in ("one", "two"):
        await first("WriteFile", path="a.txt", content=text)
    first.undo.revert(first.undo.writes[-1])
    again = Hands(tmp_path, tmp_path / "log")
    assert [one.number for one in again.undo.writes] == [1]
    await again("WriteFile", path="b.txt", content="x")
    assert [one.number for one in again.undo.writes] == [1, 3]
    again.undo.revert(again.undo.writes[0])
    assert (again.work / "a.txt").read_text() == "before"


async def test_a_kill_between_the_note_and_the_write_does_no_harm(tmp_path: Path) -> None:
    hands = Hands(tmp_path, tmp_path / "log")
    file = hands.work / "a.txt"
    file.write_text("before")
    hands.undo.note(file, b"before", b"never written")
    again = UndoLog(tmp_path / "log")
    assert "already" in again.revert(again.writes[0])
    assert file.read_text() == "before"


@pytest.mark.parametrize("cut", [2, 20, 60])
async def test_a_torn_line_costs_its_own_write_alone(tmp_path: Path, cut: int) -> None:
    hands = Hands(tmp_path, tmp_path / "log")
    for name in ("a", "b"):
        await hands("WriteFile", path=name, content="x")
    file = tmp_path / "log" / "undo.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert [Path(one.path).name for one in UndoLog(tmp_path / "log").writes] == ["a"]
    again = Hands(tmp_path, tmp_path / "log")
    await again("WriteFile", path="c", content="x")
    assert [Path(one.path).name for one in UndoLog(tmp_path / "log").writes] == ["a", "c"]


async def test_a_damaged_copy_is_not_put_back(tmp_path: Path) -> None:
    hands = Hands(tmp_path, tmp_path / "log")
    (hands.work / "a.txt").write_text("before")
    await hands("WriteFile", path="a.txt", content="after")
    (tmp_path / "log" / "1.before").write_text("damaged")
    with pytest.raises(UndoError, match="damaged"):
        hands.undo.revert(hands.undo.writes[0])
    assert (hands.work / "a.txt").read_text() == "after"


# In a conversation


def write(path: str, content: str) -> Any:
    return use(Call("WriteFile", {"path": path, "content": content}))


async def test_what_was_written_since_a_position_of_the_conversation_is_known(
    tmp_path: Path,
) -> None:
    replies = [write("a", "1"), say("ok"), write("b", "2"), write("c", "3"), say("ok")]
    async with openai_server(*replies) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["WriteFile"], yolo=True)
        await bench.soul.turn("first")
        position = bench.soul.context.position
        await bench.soul.turn("second")
    undo = bench.runtime.undo
    assert [Path(one.path).name for one in undo.since(position)] == ["c", "b"]
    assert [Path(one.path).name for one in undo.since(0)] == ["c", "b", "a"]


async def test_undo_takes_back_the_last_write_or_one_by_its_number(tmp_path: Path) -> None:
    async with openai_server(
        write("a", "1"), write("b", "2"), write("c", "3"), say("ok")
    ) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["WriteFile"], yolo=True)
        await bench.soul.turn("Go")
        await bench.soul.run("/undo")
        assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b"]  # noqa: ASYNC240
        await bench.soul.run("/undo 1")
        assert [one.name for one in tmp_path.iterdir()] == ["b"]  # noqa: ASYNC240
        await bench.soul.run("/undo list")
    told = [body.text for body in bench.said_of(Notice)]
    assert told[0] == f"Taken back: {tmp_path / 'c'} is removed again."
    assert f"created {tmp_path / 'b'}" in told[2]
    assert str(tmp_path / "a") not in told[2]


async def test_undo_says_what_it_cannot_do(tmp_path: Path) -> None:
    async with openai_server(write("a", "1"), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["WriteFile"], yolo=True)
        await bench.soul.run("/undo")
        await bench.soul.run("/undo everything")
        await bench.soul.turn("Go")
        await bench.soul.run("/undo 7")
        (tmp_path / "a").write_text("the user's")
        await bench.soul.run("/undo")
    told = [body.text for body in bench.said_of(Notice)]
    assert "No tool wrote anything" in told[0]
    assert "/undo list" in told[1]
    assert "no write 7" in told[2]
    assert "was changed since" in told[3]
    assert (tmp_path / "a").read_text() == "the user's"
