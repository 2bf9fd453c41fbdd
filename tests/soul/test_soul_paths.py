"""The boundary of the work folder: no way of writing a path leads out of it unasked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kosong.message import ToolCall
from kosong.tooling import ToolReturnValue

from flowstudio.config import Config
from flowstudio.soul import Runtime
from flowstudio.soul.approval import Policy
from flowstudio.soul.tools import TOOL_NAMES, make_tools
from flowstudio.soul.tools.files import replace_file
from flowstudio.soul.tools.globbing import open_file
from flowstudio.soul.tools.toolbox import ToolFailure
from flowstudio.wire import ApprovalAsked, Event, Wire

SECRET = "the-text-that-must-not-be-seen"


class Hands:
    """All tools in a work folder whose user answers every request the same."""

    def __init__(self, work_dir: Path, policy: Policy = "reject") -> None:
        wire = Wire()
        self.asked: list[ApprovalAsked] = []
        self.before: Callable[[], object] | None = None
        wire.subscribe(self._note)
        self.runtime = Runtime.create(Config(), wire, work_dir=work_dir, policy=policy)
        self.tools = make_tools(self.runtime, TOOL_NAMES)

    def _note(self, event: Event) -> None:
        if isinstance(event.body, ApprovalAsked):
            self.asked.append(event.body)
            if self.before:
                self.before()

    async def __call__(self, tool: str, /, **arguments: Any) -> ToolReturnValue:
        body = ToolCall.FunctionBody(name=tool, arguments=json.dumps(arguments))
        handled = self.tools.handle(ToolCall(id="1", function=body))
        result = await handled if isinstance(handled, asyncio.Future) else handled
        return result.return_value


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work folder full of ways out of it, beside a folder with a secret."""
    folder = tmp_path / "work"
    outside = tmp_path / "outside"
    home = tmp_path / "home"
    for one in (folder / "sub" / "deep", outside / "below", home):
        one.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(folder)
    for one in (outside / "key", outside / "below" / "key", home / "key", tmp_path / "work-key"):
        one.write_text(f"{SECRET}\n")
    (tmp_path / "work2").mkdir()
    (tmp_path / "work2" / "key").write_text(SECRET)
    (folder / "fine").write_text("fine\n")
    links = {
        "link": outside / "key",
        "far": outside,
        "relative": Path("../outside/key"),
        "sub/up": Path("../.."),
        "chain1": Path("chain2"),
        "chain2": Path("chain3"),
        "chain3": Path("far/key"),
        "dangling": outside / "not-there-yet",
        "dangling-far": outside / "no-folder" / "file",
        "root": Path("/"),
        "proc": Path("/proc/self/root"),
        "cwd": Path("/proc/self/cwd/.."),
        "parent": Path(".."),
        "through": Path("sub/../../outside"),
        "absolute-in-and-out": folder / ".." / "outside",
        "\u202egnp.exe": outside / "key",
        "sub/loop-out": Path("../sub/up/outside"),
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    return folder


ESCAPES = [
    "../outside/key",
    "./../outside/key",
    "sub/../../outside/key",
    "sub/deep/../../../outside/key",
    "not-there/../../outside/key",
    "..//outside///key",
    "../outside/./key",
    "../outside/below/../key",
    "../work/../outside/key",
    "../work-key",
    "../work2/key",
    "{up}/outside/key",
    "//{up}/outside/key",
    "{up}/work/../outside/key",
    "/..{up}/outside/key",
    "link",
    "./link",
    "sub/../link",
    "far/key",
    "far/below/key",
    "far/below/../key",
    "far/../outside/key",
    "relative",
    "sub/up/outside/key",
    "sub/deep/../up/outside/key",
    "chain1",
    "chain2",
    "root{up}/outside/key",
    "proc{up}/outside/key",
    "cwd/outside/key",
    "parent/outside/key",
    "through/key",
    "absolute-in-and-out/key",
    "\u202egnp.exe",
    "sub/loop-out/key",
    "~/key",
    "~/../outside/key",
    "/proc/self/root{up}/outside/key",
    "/proc/self/cwd/../outside/key",
    "/proc/thread-self/root{up}/outside/key",
    "/proc/self/root/proc/self/root{up}/outside/key",
    "/dev/fd/../cwd/../outside/key",
    "/proc/{pid}/cwd/../outside/key",
    "{up}/./outside/key",
    "link/../key",
]
"""Each of them names the file `key` in the folder beside the work folder, or none at all."""


def spell(path: str, work: Path) -> str:
    return path.format(up=work.parent, pid=os.getpid())


def test_there_are_many_escapes() -> None:
    assert len(set(ESCAPES)) == len(ESCAPES) >= 40


@pytest.mark.parametrize("path", ESCAPES)
async def test_reading_outside_is_asked_for_and_a_no_shows_nothing(work: Path, path: str) -> None:
    hands = Hands(work)
    value = await hands("ReadFile", path=spell(path, work))
    assert value.is_error
    assert SECRET not in f"{value.output}{value.message}"
    assert len(hands.asked) == 1
    assert "outside the work folder" in hands.asked[0].action


@pytest.mark.parametrize("path", [*ESCAPES, "dangling", "dangling-far", "far/new", "parent/new"])
async def test_writing_outside_is_asked_for_as_such_and_a_no_changes_nothing(
    work: Path, path: str
) -> None:
    def look() -> dict[str, str]:
        around = [one for one in sorted(work.parent.rglob("*")) if not one.is_symlink()]
        return {str(one): one.read_text() for one in around if one.is_file()}

    before = look()
    hands = Hands(work)
    value = await hands("WriteFile", path=spell(path, work), content="mine")
    assert value.is_error
    assert [asked.action.split(", ")[-1] for asked in hands.asked] == ["outside the work folder"]
    assert look() == before


@pytest.mark.parametrize(
    "path", ["../outside", "far", "root", "proc", "sub/up", "~", "/", "cwd", "through", "parent/."]
)
@pytest.mark.parametrize("tool", ["Glob", "Grep"])
async def test_searching_outside_is_asked_for_and_a_no_finds_nothing(
    work: Path, path: str, tool: str
) -> None:
    hands = Hands(work)
    where = {"Glob": {"pattern": "**", "directory": path}, "Grep": {"pattern": ".", "path": path}}
    value = await hands(tool, **where[tool])
    assert value.is_error
    assert len(hands.asked) == 1
    assert "key" not in str(value.output)


@pytest.mark.parametrize(
    "pattern", ["../*", "**/../../outside/*", "/etc/*", "far/../../*", "sub/../../*"]
)
async def test_a_pattern_cannot_climb(work: Path, pattern: str) -> None:
    value = await Hands(work)("Glob", pattern=pattern)
    assert value.is_error
    assert "without .." in value.message


async def test_links_in_the_work_folder_are_named_but_not_followed_by_a_search(work: Path) -> None:
    hands = Hands(work)
    found = str((await hands("Glob", pattern="**", include_dirs=True)).output).split("\n")
    assert "link" in found
    assert not [path for path in found if path.startswith(("far/", "root/", "proc/", "sub/up/"))]
    grepped = await hands("Grep", pattern=SECRET)
    assert grepped.output == ""
    globbed = await hands("Grep", pattern=SECRET, glob="{far,link,relative}*")
    assert globbed.output == ""
    assert hands.asked == []


@pytest.mark.parametrize("path", ["a\0b", "../outside/key\0", "~nobody-of-this-name/key"])
async def test_what_is_no_path_is_refused_without_asking(work: Path, path: str) -> None:
    hands = Hands(work)
    for tool, more in (("ReadFile", {}), ("WriteFile", {"content": "x"})):
        value = await hands(tool, path=path, **more)
        assert value.is_error
    assert hands.asked == []


@pytest.mark.parametrize(
    "path",
    ["%2e%2e/outside/key", "..\\outside\\key", "\uff0e\uff0e/outside/key", "..;/key", "$HOME/key"],
)
async def test_what_only_looks_like_a_way_out_is_a_name_in_the_work_folder(
    work: Path, path: str
) -> None:
    hands = Hands(work)
    value = await hands("ReadFile", path=path)
    assert "There is no file" in value.message
    assert hands.asked == []


async def test_case_counts_where_the_file_system_says_so(work: Path) -> None:
    hands = Hands(work)
    other = work.parent / "WORK"
    other.mkdir()
    (other / "key").write_text(SECRET)
    value = await hands("ReadFile", path="../WORK/key")
    assert value.is_error
    assert len(hands.asked) == 1


async def test_leave_for_the_session_outside_holds_for_that_place_alone(work: Path) -> None:
    hands = Hands(work, "ask")
    hands.before = lambda: asyncio.get_running_loop().call_soon(
        hands.runtime.approval.answer, hands.asked[-1].id, "session"
    )
    await hands("ReadFile", path="../outside/key")
    await hands("ReadFile", path="link")
    assert len(hands.asked) == 1
    await hands("ReadFile", path="../outside/below/key")
    assert len(hands.asked) == 2


async def test_a_work_folder_that_is_itself_a_link_is_what_it_leads_to(work: Path) -> None:
    alias = work.parent / "alias"
    alias.symlink_to(work)
    hands = Hands(alias)
    assert not (await hands("ReadFile", path="fine")).is_error
    assert not (await hands("ReadFile", path=str(work / "fine"))).is_error
    assert hands.asked == []


# Races: what was looked at is swapped for a link before it is used


async def test_a_folder_swapped_for_a_link_while_the_user_is_asked_is_not_written_through(
    work: Path,
) -> None:
    target = work / "sub" / "deep" / "key"
    target.write_text("mine\n")

    def swap() -> None:
        (work / "sub" / "deep").rename(work / "sub" / "away")
        (work / "sub" / "deep").symlink_to(work.parent / "outside")

    hands = Hands(work, "allow")
    hands.before = swap
    value = await hands("WriteFile", path="sub/deep/key", content="changed")
    assert value.is_error
    assert (work.parent / "outside" / "key").read_text() == f"{SECRET}\n"


async def test_a_file_swapped_for_a_link_while_the_user_is_asked_is_not_written_through(
    work: Path,
) -> None:
    (work / "new").write_text("mine\n")

    def swap() -> None:
        (work / "new").unlink()
        (work / "new").symlink_to(work.parent / "outside" / "key")

    hands = Hands(work, "allow")
    hands.before = swap
    await hands("WriteFile", path="new", content="changed")
    assert (work.parent / "outside" / "key").read_text() == f"{SECRET}\n"


@pytest.mark.parametrize("part", ["sub", "sub/deep", "sub/deep/file"])
def test_a_place_that_was_resolved_is_opened_without_following_any_link(
    work: Path, part: str
) -> None:
    place = work / "sub" / "deep" / "file"
    place.write_text("mine\n")
    (work / part).rename(work / "away")
    (work / part).symlink_to(work / "away")
    with pytest.raises(OSError):
        os.close(open_file(str(place)))
    with contextlib.suppress(ToolFailure):
        replace_file(place, "file", b"changed")
    kept = list((work / "away").rglob("file")) or [work / "away"]
    assert [one.read_text() for one in kept] == ["mine\n"]


async def test_a_folder_that_flips_all_the_time_never_lets_anything_out(work: Path) -> None:
    """As hard a race as a test can make: a thread swaps a folder and a link in one go."""
    flip, real, link = work / "flip", work / "real", work / "sly"
    real.mkdir()
    (real / "key").write_text("mine\n")
    link.symlink_to(work.parent / "outside")
    real.rename(flip)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(flip, real)  # noqa: PTH104
            os.rename(link, flip)  # noqa: PTH104
            os.rename(flip, link)  # noqa: PTH104
            os.rename(real, flip)  # noqa: PTH104

    thread = threading.Thread(target=swap)
    thread.start()
    hands = Hands(work)
    try:
        for _ in range(200):
            for value in (
                await hands("ReadFile", path="flip/key"),
                await hands("Glob", pattern="flip/**"),
            ):
                assert SECRET not in f"{value.output}{value.message}"
                assert "below" not in str(value.output)
    finally:
        stop.set()
        thread.join()


async def test_a_search_in_a_folder_that_flips_never_lets_anything_out(work: Path) -> None:
    flip, away = work / "flip", work / "away"
    flip.mkdir()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            flip.rename(away)
            flip.symlink_to(work.parent / "outside")
            flip.unlink()
            away.rename(flip)

    thread = threading.Thread(target=swap)
    thread.start()
    hands = Hands(work)
    try:
        for _ in range(5):
            assert SECRET not in str((await hands("Grep", pattern=SECRET)).output)
    finally:
        stop.set()
        thread.join()


async def test_a_device_or_a_pipe_is_neither_read_nor_waited_for(work: Path) -> None:
    os.mkfifo(work / "pipe")
    hands = Hands(work, "allow")
    for path in ("pipe", "/dev/zero", "/dev/tty"):
        assert (await hands("ReadFile", path=path)).is_error
    assert (await hands("Grep", pattern="x", path="pipe")).output == ""
