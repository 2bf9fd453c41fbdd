"""Copying: what is copied, by which tool, and that nobody hears “copied” when it was not."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from flowstudio.studio.copying import copy_by_tool, tools
from flowstudio.wire import Event, PromptSent, Text
from tests.studio.kit import Studio, open_studio


def put_tool(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    ("environ", "platform", "names"),
    [
        ({}, "linux", []),
        ({"DISPLAY": ":0"}, "linux", ["xclip", "xsel"]),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", ["wl-copy", "xclip", "xsel"]),
        ({"TMUX": "x"}, "linux", ["tmux"]),
        ({}, "darwin", ["pbcopy"]),
        ({"WSL_DISTRO_NAME": "Debian"}, "linux", ["clip.exe"]),
    ],
)
def test_only_tools_with_somewhere_to_put_a_text_are_asked(
    tmp_path: Path, environ: dict[str, str], platform: str, names: list[str]
) -> None:
    for name in ("xclip", "xsel", "wl-copy", "tmux", "pbcopy", "clip.exe"):
        put_tool(tmp_path / "bin", name, "exit 0")
    found = tools({**environ, "PATH": str(tmp_path / "bin")}, platform)
    assert [tool.name for tool in found] == names


async def test_the_first_tool_that_ends_well_has_it(tmp_path: Path) -> None:
    put_tool(tmp_path / "bin", "wl-copy", "cat > /dev/null; exit 1")
    put_tool(tmp_path / "bin", "xclip", f"/bin/cat > {tmp_path}/got")
    env = {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0", "PATH": str(tmp_path / "bin")}
    tool = await copy_by_tool("ä text\n", tools(env, "linux"))
    assert tool is not None
    assert tool.name == "xclip"
    assert read(tmp_path / "got") == "ä text\n"
    assert await copy_by_tool("x", iter(())) is None


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def say(studio: Studio, question: str, answer: str) -> None:
    for body in (PromptSent(question), Text(answer)):
        studio.main._take_event(Event(body, "run", 0.0))


async def test_y_copies_what_is_chosen_and_says_only_what_is_known(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = tmp_path / "got"
    monkeypatch.setattr("flowstudio.studio.copying.tools", lambda: iter(()))
    async with open_studio(work) as studio:
        say(studio, "why?", "Because of **this**.")
        await studio.until(lambda: "Because of this." in studio.text, "the answer")
        studio.chat.log_view.focus()
        await studio.press("y")
        await studio.until(
            lambda: any("may refuse" in one for one in studio.toasts), "what is known"
        )
        assert not any("opied" in one for one in studio.toasts)
        assert studio.app.clipboard == "Because of **this**."
        # The same again goes to a file, which is named.
        await studio.press("y")
        await studio.until(lambda: any("Saved" in one for one in studio.toasts), "a file")
        assert read(Path(studio.toasts[-1].split(" to ")[-1])) == "Because of **this**."
        # With a tool that ends well it is copied.
        real = put_tool(tmp_path / "bin", "xclip", f"/bin/cat > {got}")
        env = {"DISPLAY": ":0", "PATH": str(real.parent)}
        monkeypatch.setattr("flowstudio.studio.copying.tools", lambda: tools(env, "linux"))
        await studio.press("k", "k", "y")
        await studio.until(lambda: any("Copied the entry" in t for t in studio.toasts), "copied")
        assert read(got) == "why?"
        # In the flow it is the prompt of the node.
        await studio.select("mend")
        await studio.press("y")
        await studio.until(lambda: any("Copied the prompt" in t for t in studio.toasts), "copied")
        assert read(got) == "Mend what is bad"


async def test_text_marked_with_the_mouse_is_what_y_copies(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.studio.copying.tools", lambda: iter(()))
    async with open_studio(work) as studio:
        say(studio, "why?", "First line 中文 of it.\n\nSecond line of it.")
        await studio.until(lambda: "Second line" in studio.text, "the answer")
        x, y = studio.find("First line", within="#log")
        x -= len("First line") // 2
        await studio.pilot.mouse_down(offset=(x + 6, y))
        await studio.pilot.hover(offset=(x + 6, y + 2))
        await studio.pilot.mouse_up(offset=(x + 6, y + 2))
        await studio.pilot.pause()
        await studio.press("y")
        await studio.until(lambda: any("marked text" in one for one in studio.toasts), "a word")
        assert studio.app.clipboard.splitlines()[:2] == ["line 中文 of it.", ""]
        assert studio.app.clipboard.splitlines()[2] in ("Second", "Second ", "Second l")


LONG = "The quick brown fox jumps over the lazy dog and then sleeps in the shade for the whole day."
CODE = "value = first_of(everything) + second_of(everything) + third_of(everything)"


@pytest.mark.parametrize(
    ("said", "copied"),
    [
        (LONG, LONG),
        (f"{LONG}\nA line of its own.", f"{LONG}\nA line of its own."),
        (f"- {LONG}\n- short", f"• {LONG}\n• short"),
        ("中文" * 40 + "。", "中文" * 40 + "。"),
        ("x" * 100, "x" * 100),
        (f"```python\ndef f():\n    {CODE}\n```", f"def f():\n    {CODE}"),
    ],
    ids=["a paragraph", "two lines", "a list", "no blanks", "one long word", "code"],
)
async def test_lines_that_the_window_folded_are_copied_as_they_were_written(
    work: Path, monkeypatch: pytest.MonkeyPatch, said: str, copied: str
) -> None:
    monkeypatch.setattr("flowstudio.studio.copying.tools", lambda: iter(()))
    async with open_studio(work) as studio:
        say(studio, "why?", f"{said}\n\nThe end.")
        await studio.until(lambda: "The end." in studio.text, "the answer")
        log = studio.chat.log_view.region
        top, bottom = studio.find("why?", within="#log")[1], studio.find("The end.")[1]
        assert bottom - top > 3  # it was folded
        await studio.pilot.mouse_down(offset=(log.x + 2, top + 1))
        await studio.pilot.hover(offset=(log.right - 2, bottom - 1))
        await studio.pilot.mouse_up(offset=(log.right - 2, bottom - 1))
        await studio.pilot.pause()
        await studio.press("y")
        await studio.until(lambda: any("marked text" in one for one in studio.toasts), "a word")
        assert studio.app.clipboard.strip("\n") == copied


async def test_the_middle_of_a_folded_line_is_copied_without_its_fold(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.studio.copying.tools", lambda: iter(()))
    async with open_studio(work) as studio:
        say(studio, "why?", f"1. {LONG}")
        await studio.until(lambda: "whole day." in studio.text, "the answer")
        x, y = studio.find("quick", within="#log")
        x -= len("quick") // 2
        await studio.pilot.mouse_down(offset=(x, y))
        await studio.pilot.hover(offset=(x, y + 1))
        await studio.pilot.mouse_up(offset=(x, y + 1))
        await studio.pilot.pause()
        await studio.press("y")
        await studio.until(lambda: any("marked text" in one for one in studio.toasts), "a word")
        assert LONG[4:].startswith(studio.app.clipboard)
        assert len(studio.app.clipboard) > 30
