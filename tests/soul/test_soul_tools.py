"""The tools: what each does, what it refuses, and where its boundary lies."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kosong.message import ToolCall
from kosong.tooling import ToolReturnValue

from flowstudio.config import Config
from flowstudio.soul import Runtime
from flowstudio.soul.approval import Policy, ToolRejectedError
from flowstudio.soul.tools import DEFAULT_TOOLS, TOOL_NAMES, make_tools
from flowstudio.soul.tools.globbing import compile_glob
from flowstudio.soul.tools.read_file import MOST_LINES
from flowstudio.soul.tools.toolbox import MOST_LINE, MOST_OUTPUT
from flowstudio.wire import ApprovalAsked, UserAnswered, UserAsked, Wire


class Hands:
    """All tools in a work folder, with the requests that they made."""

    def __init__(self, work_dir: Path, policy: Policy = "allow") -> None:
        self.work_dir = work_dir
        wire = Wire()
        self.asked: list[ApprovalAsked] = []
        self.before: Callable[[], object] | None = None
        wire.subscribe(self._note)
        self.wire = wire
        self.runtime = Runtime.create(Config(), wire, work_dir=work_dir, policy=policy)
        self.tools = make_tools(self.runtime, TOOL_NAMES)

    def _note(self, event: Any) -> None:
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
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def hands(work: Path) -> Hands:
    return Hands(work)


# Who is asked


WITHIN = [
    ("ReadFile", {"path": "a.txt"}),
    ("Glob", {"pattern": "*"}),
    ("Grep", {"pattern": "a"}),
    ("Think", {"thought": "x"}),
    ("SetTodoList", {"todos": []}),
    ("submit_answer", {"answer": "x"}),
]
CHANGING = [
    ("Shell", {"command": "true"}, "run commands"),
    ("WriteFile", {"path": "a.txt", "content": "y"}, "change files"),
    ("StrReplaceFile", {"path": "a.txt", "edits": [{"old": "a", "new": "b"}]}, "change files"),
    ("WriteFile", {"path": ".git/hooks/x", "content": "y"}, "change files of git itself"),
    ("WriteFile", {"path": "../b.txt", "content": "y"}, "change {up}/b.txt, outside"),
    ("ReadFile", {"path": "../out.txt"}, "read {up}/out.txt, outside"),
    ("Glob", {"pattern": "*", "directory": ".."}, "read {up}, outside"),
    ("Grep", {"pattern": "a", "path": "/"}, "read /, outside"),
    ("ReadFile", {"path": "link.txt"}, "read {up}/out.txt, outside"),
    ("WriteFile", {"path": "way/b.txt", "content": "y"}, "change {up}/b.txt, outside"),
    ("ReadFile", {"path": "~/x"}, "read {home}/x, outside"),
]


def fill(work: Path) -> None:
    (work / "a.txt").write_text("abc\n")
    (work.parent / "out.txt").write_text("outside\n")
    (work / "link.txt").symlink_to(work.parent / "out.txt")
    (work / "way").symlink_to(work.parent)


@pytest.mark.parametrize(("tool", "arguments"), WITHIN)
async def test_reading_in_the_work_folder_asks_nobody(
    work: Path, tool: str, arguments: dict[str, Any]
) -> None:
    fill(work)
    hands = Hands(work, "reject")
    assert not (await hands(tool, **arguments)).is_error
    assert hands.asked == []


@pytest.mark.parametrize(("tool", "arguments", "action"), CHANGING)
async def test_changing_and_leaving_the_work_folder_asks_and_a_no_changes_nothing(
    work: Path, tool: str, arguments: dict[str, Any], action: str
) -> None:
    fill(work)
    hands = Hands(work, "reject")
    value = await hands(tool, **arguments)
    assert isinstance(value, ToolRejectedError)
    expected = action.format(up=work.parent, home=Path.home())
    expected += " the work folder" if expected.endswith("outside") else ""
    assert [asked.action for asked in hands.asked] == [expected]
    assert (work / "a.txt").read_text() == "abc\n"
    assert not (work.parent / "b.txt").exists()


async def test_a_folder_whose_name_begins_like_the_work_folders_is_outside(work: Path) -> None:
    (work.parent / "work-secrets").mkdir()
    (work.parent / "work-secrets" / "key").write_text("k")
    hands = Hands(work, "reject")
    assert isinstance(await hands("ReadFile", path="../work-secrets/key"), ToolRejectedError)


async def test_the_user_sees_the_change_that_is_asked_for(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    await hands("StrReplaceFile", path="a.txt", edits=[{"old": "two", "new": "zwei"}])
    lines = hands.asked[0].description.splitlines()
    assert lines[0] == "Change a.txt"
    assert "-two" in lines
    assert "+zwei" in lines


async def test_a_huge_change_is_shown_cut(hands: Hands) -> None:
    await hands("WriteFile", path="a.txt", content="line\n" * 100_000)
    assert len(hands.asked[0].description.splitlines()) < 500


# Shell


async def test_output_and_errors_come_together(hands: Hands) -> None:
    value = await hands("Shell", command="echo out; echo err >&2; echo more")
    assert value.output == "out\nerr\nmore\n"
    assert not value.is_error


async def test_an_exit_code_is_an_error_with_the_output(hands: Hands) -> None:
    value = await hands("Shell", command="echo why; exit 3")
    assert value.is_error
    assert value.output == "why\n"
    assert "exit code 3" in value.message


async def test_commands_run_in_the_work_folder(hands: Hands, work: Path) -> None:
    assert (await hands("Shell", command="pwd")).output == f"{work}\n"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_TOKEN", "APP_SECRET", "openai_api_key"])
async def test_keys_are_not_in_the_environment_of_commands(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "k-1234567")
    monkeypatch.setenv("HARMLESS", "yes")
    value = await hands("Shell", command="env")
    assert "k-1234567" not in value.output
    assert "HARMLESS=yes" in value.output


async def test_a_key_that_the_configuration_names_is_not_there_either(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_PASS", "k-1234567")
    config = Config.model_validate({"providers": {"h": {"key_env": "HOUSE_PASS"}}})
    hands = Hands(work)
    hands.runtime.config = config
    hands.tools = make_tools(hands.runtime, ["Shell"])
    assert "k-1234567" not in (await hands("Shell", command="env")).output


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


async def ends(pid: int) -> bool:
    """Whether a process that was killed is gone; its files close before its state says so."""
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:  # noqa: ASYNC110 - a process has no event
        await asyncio.sleep(0)
    return not alive(pid)


async def test_a_command_that_hangs_is_ended_with_its_children(hands: Hands, work: Path) -> None:
    command = "(trap '' TERM; sleep 600) & echo $! > child; sleep 600"
    value = await hands("Shell", command=command, timeout=1)
    assert value.is_error
    assert "longer than 1 s" in value.message
    assert await ends(int((work / "child").read_text()))


async def test_a_child_in_the_background_does_not_hold_the_command_up(
    hands: Hands, work: Path
) -> None:
    value = await hands("Shell", command="sleep 600 & echo $! > child; echo done", timeout=60)
    assert value.output == "done\n"
    assert await ends(int((work / "child").read_text()))


async def test_a_child_that_left_the_group_does_not_hold_the_command_up_and_is_ended(
    hands: Hands, work: Path
) -> None:
    value = await hands("Shell", command="setsid sleep 30 & echo $! > child; echo done", timeout=20)
    assert value.output == "done\n"
    assert await ends(int((work / "child").read_text()))


async def test_a_cancelled_command_is_ended_with_its_children(hands: Hands, work: Path) -> None:
    command = "sleep 600 & echo $! > child.tmp; mv child.tmp child; sleep 600"
    task = asyncio.create_task(hands("Shell", command=command))
    while not (work / "child").exists():  # noqa: ASYNC110 - a file has no event
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ends(int((work / "child").read_text()))


async def test_a_command_that_waits_for_input_gets_none(hands: Hands) -> None:
    assert (await hands("Shell", command="cat; echo over", timeout=20)).output == "over\n"


async def test_long_output_is_cut_and_all_of_it_can_be_read(hands: Hands) -> None:
    value = await hands("Shell", command="seq 1 50000")
    assert len(value.output) < MOST_OUTPUT + 100
    assert str(value.output).startswith("1\n2\n")
    assert str(value.output).endswith("49999\n50000\n")
    place = value.message.split(" is in ")[1].split(". ")[0].rstrip(".")
    assert await asyncio.to_thread(Path(place).read_text) == "".join(
        f"{number}\n" for number in range(1, 50_001)
    )
    asked = len(hands.asked)
    read = await hands("ReadFile", path=place, line_offset=25_000, n_lines=1)
    assert "25000" in str(read.output)
    assert len(hands.asked) == asked


async def test_kept_output_goes_with_the_tools(work: Path) -> None:
    import gc

    hands = Hands(work)
    value = await hands("Shell", command="seq 1 50000")
    folder = Path(value.message.split(" is in ")[1].rstrip(".")).parent
    assert folder.is_dir()
    del hands
    gc.collect()
    assert not folder.exists()


async def test_endless_output_is_bounded(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowstudio.soul.tools.process.MOST_KEPT", 100_000)
    value = await hands("Shell", command="yes", timeout=1)
    assert "more are lost" in value.message
    assert len(value.output) < MOST_OUTPUT + 100


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (r"\033[31mred\033[0m", "red"),
        (r"\033]0;title\007text", "text"),
        (r"10%%\r50%%\r100%%", "100%"),
        (r"a\r\nb", "a\nb"),
        (r"a\000b\007", "ab"),
        (r"\377\376", "\ufffd\ufffd"),
    ],
)
async def test_terminal_escapes_do_not_pass(hands: Hands, written: str, seen: str) -> None:
    assert (await hands("Shell", command=f"printf '{written}'")).output == seen


# Reading


async def test_lines_come_with_their_numbers(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\n\nfour")
    value = await hands("ReadFile", path="a.txt", line_offset=2, n_lines=2)
    assert value.output == "     2\ttwo\n     3\t"
    assert "read on with line_offset=4" in value.message
    whole = await hands("ReadFile", path="a.txt")
    assert "read on" not in whole.message


async def test_a_long_file_and_a_long_line_are_cut(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_text("x" * 1_000_000 + "\nshort\n" + "y\n" * 5000)
    value = await hands("ReadFile", path="a.txt")
    rows = str(value.output).split("\n")
    assert len(rows) == MOST_LINES
    assert len(rows[0]) < MOST_LINE + 50
    assert f"{1_000_000 - MOST_LINE} more" in rows[0]
    assert rows[1] == "     2\tshort"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda file: file.mkdir(), "is a folder"),
        (lambda file: os.mkfifo(file), "no regular file"),
        (lambda file: file.write_bytes(b"PNG\0\0"), "no text file"),
        (lambda file: None, "There is no file"),
        (lambda file: file.symlink_to(file), "no path"),
    ],
)
async def test_what_cannot_be_read_as_text_is_told(
    hands: Hands, work: Path, make: Callable[[Path], object], told: str
) -> None:
    make(work / "x")
    value = await hands("ReadFile", path="x")
    assert value.is_error
    assert told in value.message


async def test_a_file_that_is_empty_or_shorter_than_asked_is_told(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_text("")
    assert "is empty" in (await hands("ReadFile", path="a.txt")).message
    (work / "a.txt").write_text("one\n")
    assert "only 1 lines" in (await hands("ReadFile", path="a.txt", line_offset=9)).message


# Writing


async def test_a_file_is_created_with_its_folders(hands: Hands, work: Path) -> None:
    value = await hands("WriteFile", path="deep/er/a.txt", content="ünï\n")
    assert not value.is_error
    assert (work / "deep/er/a.txt").read_text() == "ünï\n"


async def test_a_file_keeps_its_mode_and_a_new_one_gets_the_usual_one(
    hands: Hands, work: Path
) -> None:
    script = work / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    await hands("WriteFile", path="run.sh", content="new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    await hands("WriteFile", path="fresh", content="x")
    plain = work / "plain"
    plain.write_text("x")
    assert (work / "fresh").stat().st_mode == plain.stat().st_mode


async def test_writing_leaves_nothing_else_behind(hands: Hands, work: Path) -> None:
    await hands("WriteFile", path="a.txt", content="x")
    await hands("WriteFile", path="a.txt/b.txt", content="x")
    assert [path.name for path in work.iterdir()] == ["a.txt"]  # noqa: ASYNC240


async def test_a_file_changed_while_the_user_was_asked_is_not_overwritten(
    hands: Hands, work: Path
) -> None:
    file = work / "a.txt"
    file.write_text("one\n")
    hands.before = lambda: file.write_text("someone else's\n")
    for tool, arguments in (
        ("WriteFile", {"content": "mine"}),
        ("StrReplaceFile", {"edits": [{"old": "o", "new": "u"}]}),
    ):
        file.write_text("one\n")
        value = await hands(tool, path="a.txt", **arguments)
        assert "meanwhile" in value.message
        assert file.read_text() == "someone else's\n"


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        ("a b c", [{"old": "b", "new": "x"}], "a x c"),
        ("a a", [{"old": "a", "new": "b", "replace_all": True}], "b b"),
        ("a b", [{"old": "a", "new": "b"}, {"old": "b b", "new": "c"}], "c"),
        ("one\r\ntwo\r\n", [{"old": "one\ntwo", "new": "1\n2"}], "1\r\n2\r\n"),
        ("a\n", [{"old": "a\n", "new": ""}], ""),
        ("a.b", [{"old": ".", "new": r"\1"}], r"a\1b"),
    ],
)
async def test_edits_are_made_exactly(
    hands: Hands, work: Path, before: str, edits: list[dict[str, Any]], after: str
) -> None:
    (work / "a.txt").write_bytes(before.encode())
    value = await hands("StrReplaceFile", path="a.txt", edits=edits)
    assert not value.is_error, value.message
    assert (work / "a.txt").read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([{"old": "zzz", "new": "x"}], "Edit 1: `old` does not stand"),
        ([{"old": "a", "new": "x"}], "Edit 1: `old` stands in a.txt 2 times"),
        ([{"old": "b", "new": "x"}, {"old": "b", "new": "y"}], "Edit 2: `old` does not stand"),
    ],
)
async def test_an_edit_that_does_not_fit_changes_nothing(
    hands: Hands, work: Path, edits: list[dict[str, Any]], told: str
) -> None:
    (work / "a.txt").write_text("a b a")
    value = await hands("StrReplaceFile", path="a.txt", edits=edits)
    assert told in value.message
    assert (work / "a.txt").read_text() == "a b a"


async def test_a_file_that_is_no_utf8_is_not_edited(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_bytes(b"caf\xe9")
    value = await hands("StrReplaceFile", path="a.txt", edits=[{"old": "caf", "new": "x"}])
    assert "no UTF-8" in value.message
    assert (work / "a.txt").read_bytes() == b"caf\xe9"


# Searching


@pytest.fixture
def tree(work: Path) -> Path:
    for name in (
        "a.py",
        "src/b.py",
        "src/deep/c.py",
        "src/d.txt",
        ".git/e.py",
        "node_modules/f.py",
    ):
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\nvalue = 1\n")
    (work / "loop").symlink_to(work)
    return work


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/**", ["src/b.py", "src/d.txt", "src/deep/c.py"]),
        ("src/*.{py,txt}", ["src/b.py", "src/d.txt"]),
        ("**/[bc].py", ["src/b.py", "src/deep/c.py"]),
        ("**/[!bc].py", ["a.py"]),
        ("src/?.py", ["src/b.py"]),
        ("./src/*.py", ["src/b.py"]),
        (".git/*.py", [".git/e.py"]),
        ("nothing", []),
    ],
)
async def test_glob_finds_what_fits(
    hands: Hands, tree: Path, pattern: str, found: list[str]
) -> None:
    value = await hands("Glob", pattern=pattern)
    assert sorted(str(value.output).split()) == sorted(found)


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "a/../../b", "[z-a]"])
async def test_a_pattern_that_climbs_or_is_wrong_is_refused(hands: Hands, pattern: str) -> None:
    assert (await hands("Glob", pattern=pattern)).is_error


async def test_glob_is_bounded(hands: Hands, work: Path) -> None:
    for number in range(600):
        (work / f"{number}.txt").touch()
    value = await hands("Glob", pattern="*.txt")
    assert len(str(value.output).split()) == 500
    assert "narrow" in value.message


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b", True),
        ("**/b", "b", True),
        ("**/b", "x/b", True),
        ("**/b", "xb", False),
        ("a/**", "a", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "ab", False),
        ("a/**/**/b", "a/b", True),
        ("**/x/**/y", "x/q/x/y", True),
        ("**/x/**/y", "q/x/z/y", True),
        ("**/x/**/y", "x/z", False),
        ("*a*b", "aab", True),
        ("*a*a", "aaa", True),
        ("*a*a", "ba", False),
        ("a*", "a", True),
        ("*.{tar.gz,zip}", "x.tar.gz", True),
        ("[]", "[]", True),
        ("{", "{", True),
        ("a.b", "axb", False),
    ],
)
def test_patterns_fit_as_people_expect(pattern: str, path: str, fits: bool) -> None:
    assert bool(compile_glob(pattern).fullmatch(path)) is fits


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*" * 60 + "x", "a" * 200),
        ("*a" * 60 + "x", "a" * 200),
        ("**/a/" * 30 + "x", "a/" * 100 + "y"),
    ],
)
def test_no_pattern_takes_exponential_time(pattern: str, path: str) -> None:
    """With a search through all ways to match, none of these would come to an end."""
    assert compile_glob(pattern).fullmatch(path) is None


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "value"}, ["a.py:2:value = 1", "src/b.py:2:value = 1"]),
        ({"pattern": "VALUE", "ignore_case": True, "glob": "a.py"}, ["a.py:2:value = 1"]),
        ({"pattern": "value", "glob": "*.txt"}, ["src/d.txt:2:value = 1"]),
        ({"pattern": "value", "glob": "src/*.py", "mode": "files"}, ["src/b.py"]),
        ({"pattern": ".", "path": "a.py", "mode": "count"}, ["a.py: 2"]),
        ({"pattern": "value", "path": "a.py", "context": 1}, ["a.py-1-# a.py", "a.py:2:value"]),
    ],
)
async def test_grep_finds_lines(
    hands: Hands, tree: Path, arguments: dict[str, Any], found: list[str]
) -> None:
    value = await hands("Grep", **arguments)
    for line in found:
        assert line in str(value.output)
    assert ".git" not in str(value.output)
    assert "node_modules" not in str(value.output)


async def test_grep_is_bounded_and_says_so(hands: Hands, work: Path) -> None:
    (work / "a.txt").write_text("x\n" * 1000)
    value = await hands("Grep", pattern="x", most=10)
    assert len(str(value.output).split("\n")) == 10
    assert "Only the first 10" in value.message


async def test_a_pattern_that_takes_for_ever_is_ended_and_the_studio_goes_on(
    hands: Hands, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.soul.tools.grep._SECONDS", 1.0)
    (work / "a.txt").write_text("a" * 40 + "!")
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    heart = asyncio.create_task(beat())
    value = await hands("Grep", pattern="(a+)+$")
    heart.cancel()
    assert "took longer" in value.message
    assert beats > 10


async def test_a_wrong_expression_and_a_missing_file_are_told(hands: Hands) -> None:
    assert "unterminated" in (await hands("Grep", pattern="(")).message
    assert "There is no nowhere" in (await hands("Grep", pattern="a", path="nowhere")).message


# The others


async def test_the_list_of_what_is_to_be_done_is_shown(hands: Hands) -> None:
    todos = [{"title": "a", "status": "done"}, {"title": "b", "status": "in_progress"}]
    value = await hands("SetTodoList", todos=[*todos, {"title": "c"}])
    assert value.output == "[x] a\n[~] b\n[ ] c"
    assert value.brief == "1 of 3 done"


async def test_a_question_waits_for_the_users_answer(work: Path) -> None:
    hands = Hands(work, "ask")
    said: list[object] = []
    hands.wire.subscribe(lambda event: said.append(event.body))
    task = asyncio.create_task(hands("AskUser", question="Which?", options=["a", "b"]))
    while not hands.runtime.questions.pending:  # noqa: ASYNC110 - asked in a task
        await asyncio.sleep(0)
    (question,) = hands.runtime.questions.pending
    assert (question.question, question.options) == ("Which?", ("a", "b"))
    assert hands.runtime.questions.answer(question.id, "b")
    assert (await task).output == "b"
    assert [type(body) for body in said] == [UserAsked, UserAnswered]


async def test_where_nobody_is_there_a_question_is_answered_so(hands: Hands) -> None:
    value = await hands("AskUser", question="Which?")
    assert value.is_error
    assert "Nobody is here" in value.message


async def test_submit_answer_can_be_given_a_check(work: Path) -> None:
    from flowstudio.soul.tools.submit_answer import SubmitAnswer

    tool = SubmitAnswer(lambda answer: None if answer == "42" else "It is not 42.")
    assert (await tool.call({"answer": "41"})).is_error
    assert not (await tool.call({"answer": "42"})).is_error


def test_the_default_agent_has_all_tools_but_two() -> None:
    assert set(TOOL_NAMES) - set(DEFAULT_TOOLS) == {"SendDMail", "submit_answer"}


async def test_a_tool_that_breaks_is_told_to_the_model(
    hands: Hands, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("flowstudio.soul.tools.read_file.read_lines", broken)
    value = await hands("ReadFile", path="a.txt")
    assert "a defect" in value.message
