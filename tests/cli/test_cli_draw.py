"""draw: every format, colour, encodings, runs, and what it says where it cannot draw."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from flowstudio.flow import read_d2, read_mermaid
from tests.cli.shell import CORPUS, ROOT, SCRIPTS, Shell

LOOP = CORPUS / "code-review-loop"
SCRIPT = SCRIPTS / "code-review-loop.script.yaml"
SVG = "{http://www.w3.org/2000/svg}"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
SMALL = """flowchart TD
    B([BEGIN]) --> work[Work on it]
    work --> check{Good?}
    check -->|yes| E([END])
    check -->|no| work
"""


@pytest.fixture
def chart(shell: Shell) -> Path:
    """A small chart in the folder of the test."""
    file = shell.cwd / "small.mmd"
    file.write_text(SMALL, encoding="utf-8")
    return file


# ---- formats ----------------------------------------------------------------------------------


def test_text_shows_boxes_prompts_and_branches(shell: Shell, chart: Path) -> None:
    done = shell("draw", chart)
    assert (done.status, done.err) == (0, "")
    for piece in ("BEGIN", "Work on it", "Good?", "yes", "no", "END", "│"):
        assert piece in done.out


@pytest.mark.parametrize("argv", [["--ascii"], ["--format", "ascii"]], ids=" ".join)
def test_ascii_is_ascii(shell: Shell, chart: Path, argv: list[str]) -> None:
    for zoom in ("full", "title", "dot"):
        done = shell.inside("draw", chart, "--zoom", zoom, *argv)
        assert done.status == 0
        assert done.raw_out.isascii()
    assert "Work on it" in shell.inside("draw", chart, *argv).out


@pytest.mark.parametrize("direction", ["TD", "LR", "BT", "RL"])
def test_the_direction_can_be_turned(shell: Shell, chart: Path, direction: str) -> None:
    rows = shell.inside("draw", chart, "--direction", direction).out.split("\n")
    at = {
        word: next((row.index(word), y) for y, row in enumerate(rows) if word in row)
        for word in ("BEGIN", "END")
    }
    axis, sign = {"TD": (1, 1), "LR": (0, 1), "BT": (1, -1), "RL": (0, -1)}[direction]
    assert (at["END"][axis] - at["BEGIN"][axis]) * sign > 0


def test_the_width_that_is_wished_for_is_met_where_it_can_be(shell: Shell) -> None:
    wide, narrow = (
        max(map(len, shell.inside("draw", LOOP, *more).out.split("\n")))
        for more in ([], ["--width", "40"])
    )
    assert narrow < wide


@pytest.mark.parametrize("form", ["mermaid", "d2"])
def test_charts_are_written_as_a_source_that_reads_as_the_same_flow(
    shell: Shell, form: str
) -> None:
    done = shell.inside("draw", LOOP, "--format", form)
    assert done.status == 0
    read = {"mermaid": read_mermaid, "d2": read_d2}[form](done.out)
    shown = shell.inside("show", LOOP, "--json").json
    assert [str(d) for d in read.diagnostics] == []
    assert [node.text for node in read.nodes.values()] == [n["label"] for n in shown["nodes"]]
    assert [edge.label for edge in read.edges] == [edge["label"] for edge in shown["edges"]]


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("x.svg", "<svg"),
        ("x.SVG", "<svg"),
        ("x.mmd", "flowchart TD"),
        ("x.mermaid", "flowchart TD"),
        ("x.d2", "B: "),
        ("x.txt", " "),
        ("x", " "),
    ],
)
def test_the_name_of_the_file_says_which_format(
    shell: Shell, chart: Path, name: str, begin: str
) -> None:
    done = shell.inside("draw", chart, "-o", name)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (shell.cwd / name).read_text(encoding="utf-8").startswith(begin)


def test_a_format_that_is_asked_for_wins_over_the_name(shell: Shell, chart: Path) -> None:
    shell.inside("draw", chart, "--format", "d2", "-o", "x.svg")
    assert (shell.cwd / "x.svg").read_text(encoding="utf-8").startswith("B: ")


def test_an_svg_names_the_flow_and_tells_it_in_words(shell: Shell, chart: Path) -> None:
    root = ET.fromstring(shell.inside("draw", chart, "--format", "svg").out)
    assert root.findtext(f"{SVG}title") == "small"
    said = root.findtext(f"{SVG}desc") or ""
    assert said.startswith("A flow of 4 nodes and 4 edges.\n1. Begin.")
    assert "On “no”: go back to 2." in said


@pytest.mark.parametrize("form", ["text", "ascii", "svg", "mermaid", "d2"])
@pytest.mark.parametrize("broken", sorted(CORPUS.glob("broken-*")), ids=lambda path: path.name)
def test_a_flow_that_cannot_be_run_is_drawn_as_far_as_it_was_read(
    shell: Shell, broken: Path, form: str
) -> None:
    done = shell.inside("draw", broken, "--format", form)
    assert done.status == 0
    assert "BEGIN" in done.out


def test_what_could_not_be_read_is_said_beside_the_picture(shell: Shell) -> None:
    done = shell.inside("draw", CORPUS / "broken-unclosed-bracket")
    assert ":13:21: error:" in done.err
    assert shell.inside("draw", CORPUS / "broken-end-unreachable").err == ""


# ---- colour and encodings ---------------------------------------------------------------------


def test_a_pipe_gets_no_colour(shell: Shell, chart: Path) -> None:
    assert "\x1b" not in shell("draw", chart).out


def test_colour_always_changes_nothing_but_the_colour(shell: Shell, chart: Path) -> None:
    coloured = shell.inside("draw", chart, "--color", "always").out
    assert "\x1b[" in coloured
    assert ESCAPE.sub("", coloured) == shell.inside("draw", chart).out


def draw_in_terminal(shell: Shell, *argv: str, **env: str) -> str:
    """What `draw` writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "flowstudio", "draw", *argv],
        cwd=shell.cwd,
        env={**shell.env, **env},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            out += more
        process.wait()
    os.close(ours)
    return out.decode()


@pytest.mark.parametrize(
    ("env", "argv", "coloured"),
    [
        ({"TERM": "xterm-256color"}, [], True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({"TERM": "xterm-256color"}, ["--color", "never"], False),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, ["--color", "always"], True),
    ],
)
def test_a_terminal_gets_colour_unless_it_or_its_user_says_otherwise(
    shell: Shell, chart: Path, env: dict[str, str], argv: list[str], coloured: bool
) -> None:
    out = draw_in_terminal(shell, str(chart), *argv, **env)
    assert ("\x1b[" in out) == coloured
    assert "Work on it" in out


def test_a_label_never_colours_the_terminal(shell: Shell) -> None:
    file = shell.cwd / "evil.mmd"
    file.write_text("flowchart TD\n a[\x1b[31mred\x1b]0;title\x07] --> b\n", encoding="utf-8")
    for argv in ([], ["--color", "always"], ["--format", "svg"], ["--format", "d2"]):
        out = ESCAPE.sub("", shell.inside("draw", file, *argv).out)
        if argv[:1] == ["--color"]:
            assert "␛[31mred" in out
        assert "\x1b" not in out
        assert "\x07" not in out


def test_where_the_encoding_has_no_lines_it_is_drawn_in_ascii_and_said(
    shell: Shell, chart: Path
) -> None:
    done = shell("draw", chart, env={"PYTHONIOENCODING": "ascii"})
    assert done.status == 0
    assert done.raw_out.isascii()
    assert b"?" not in done.raw_out.replace(b"? Good?", b"")
    assert "drawn in ASCII" in done.err
    assert shell("draw", chart, "--ascii", env={"PYTHONIOENCODING": "ascii"}).err == ""


def test_a_file_is_utf_8_whatever_the_terminal_is(shell: Shell, chart: Path) -> None:
    shell("draw", chart, "-o", "x.txt", env={"PYTHONIOENCODING": "ascii"})
    assert "│" in (shell.cwd / "x.txt").read_text(encoding="utf-8")


def test_what_an_encoding_cannot_say_keeps_its_columns(shell: Shell) -> None:
    file = shell.cwd / "zh.mmd"
    file.write_text("flowchart TD\n a[列出 x] --> b\n", encoding="utf-8")
    done = shell("draw", file, env={"PYTHONIOENCODING": "ascii"})
    assert "| ???? x |" in done.out


# ---- themes -----------------------------------------------------------------------------------


def test_the_svg_has_the_colours_of_the_theme(shell: Shell, chart: Path) -> None:
    svg = shell.inside("draw", chart, "--format", "svg", "--theme", "paper").out
    dark = shell.inside("draw", chart, "--format", "svg").out
    ground = re.search(r"background: \"(#\w+)\"", (ROOT / "themes" / "paper.yaml").read_text())
    assert ground is not None
    assert f".f-background{{fill:{ground[1]}}}" in svg
    assert ".f-background{fill:#0f1117}" in dark


def test_a_theme_of_the_users_own_is_found(shell: Shell, chart: Path) -> None:
    folder = shell.cwd / "flowstudio-home" / "config" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("name: mine\ncolours: {background: '#123456'}\n")
    assert "#123456" in shell.inside("draw", chart, "--format", "svg", "--theme", "mine").out


def test_without_a_theme_it_is_the_configurations(shell: Shell, chart: Path) -> None:
    shell.configure("theme: studio-light\n")
    light = shell.inside("draw", chart, "--format", "svg").out
    assert light == shell.inside("draw", chart, "--format", "svg", "--theme", "studio-light").out
    shell.configure("theme: gone\n")
    dark = shell.inside("draw", chart, "--format", "svg").out
    assert dark == shell.inside("draw", chart, "--format", "svg", "--theme", "studio-dark").out


def test_with_sixteen_colours_they_are_the_terminals_own(shell: Shell, chart: Path) -> None:
    out = draw_in_terminal(shell, str(chart), TERM="xterm")
    assert set(ESCAPE.findall(out)) <= {"\x1b[90m", "\x1b[34m", "\x1b[0m"}


def test_auto_leaves_dark_or_light_to_the_reader(shell: Shell, chart: Path) -> None:
    svg = shell.inside("draw", chart, "--format", "svg", "--theme", "auto").out
    assert "prefers-color-scheme:light" in svg


# ---- runs -------------------------------------------------------------------------------------


@pytest.fixture
def run(shell: Shell) -> Path:
    """The folder of a run that reached END."""
    done = shell.inside("run", LOOP, "--script", SCRIPT, "--input", "x")
    assert done.status == 0, done.err
    (folder,) = shell.runs
    return folder


def counts_of(shell: Shell) -> dict[tuple[str, str], int]:
    """How often the last run went from node to node, from the journal's own lines."""
    import json

    (folder,) = shell.runs
    found: dict[tuple[str, str], int] = {}
    for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "node_left" and record["to"]:
            key = (record["node"], record["to"])
            found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("wanted", ["last", "whole", "beginning", "end"])
def test_a_run_is_named_by_its_id_or_part_of_it_or_as_the_last(
    shell: Shell, run: Path, wanted: str
) -> None:
    named = {"last": "last", "whole": run.name, "beginning": run.name[:13], "end": run.name[-4:]}
    done = shell.inside("draw", LOOP, "--run", named[wanted])
    assert done.status == 0
    assert f"run {run.name}: the run reached END" in done.out


def test_text_shows_the_path_the_counts_and_what_the_signs_mean(shell: Shell, run: Path) -> None:
    out = shell.inside("draw", LOOP, "--run", "last").out
    for count in {count for count in counts_of(shell).values() if count > 1}:
        assert f"×{count}" in out
    assert "✓" in out
    assert "┃" in out
    assert out.rstrip().split("\n")[-1].startswith("✓ visited   ━ ▼ taken")


def test_every_other_format_shows_them_too(shell: Shell, run: Path) -> None:
    most = max(counts_of(shell).values())
    assert most > 1
    ascii_ = shell.inside("draw", LOOP, "--run", "last", "--ascii").out
    assert f"x{most}" in ascii_
    root = ET.fromstring(shell.inside("draw", LOOP, "--run", "last", "--format", "svg").out)
    assert f"×{most}" in {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    for form, mark in (("mermaid", "%% "), ("d2", "# ")):
        out = shell.inside("draw", LOOP, "--run", "last", "--format", form).out
        assert f"taken {most} times" in out
        assert f"{mark}run {run.name}: the run reached END" in out
        read = read_mermaid(out) if form == "mermaid" else read_d2(out)
        assert [str(d) for d in read.diagnostics] == []


def test_without_a_path_the_flow_is_the_one_that_the_run_used(shell: Shell, chart: Path) -> None:
    assert shell.inside("run", chart, "--seed", "1").status == 0
    chart.unlink()
    done = shell.inside("draw", "--run", "last")
    assert done.status == 0
    assert "Work on it" in done.out


def test_nodes_that_are_gone_are_said(shell: Shell, chart: Path) -> None:
    assert shell.inside("run", chart, "--seed", "1").status == 0
    chart.write_text(SMALL.replace("check", "look"), encoding="utf-8")
    done = shell.inside("draw", chart, "--run", "last")
    assert done.status == 0
    assert "visited, but not in this chart: check" in done.out


def test_a_run_that_was_cut_short_shows_where_it_stood(shell: Shell, run: Path) -> None:
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    entered = [n for n, line in enumerate(lines) if b'"type": "node_entered"' in line]
    journal.write_bytes(b"".join(lines[: entered[2] + 1]))
    done = shell.inside("draw", LOOP, "--run", "last")
    assert done.status == 0
    assert "▶" in done.out
    assert "running, or cut short, at " in done.out


def test_a_damaged_end_of_the_journal_is_said_and_the_rest_shown(shell: Shell, run: Path) -> None:
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    done = shell.inside("draw", LOOP, "--run", "last")
    assert done.status == 0
    assert "is damaged" in done.err
    assert "✓" in done.out


# ---- wrong calls ------------------------------------------------------------------------------


def spoil_middle(run: Path) -> None:
    journal = run / "journal.jsonl"
    data = bytearray(journal.read_bytes())
    data[len(data) // 4] ^= 1
    journal.write_bytes(bytes(data))


def spoil_header(run: Path) -> None:
    (run / "run.json").write_text("{}", encoding="utf-8")


def remove_journal(run: Path) -> None:
    (run / "journal.jsonl").unlink()


@pytest.mark.parametrize("spoil", [spoil_middle, spoil_header, remove_journal])
def test_a_run_that_cannot_be_read_is_refused_with_the_file(shell: Shell, run: Path, spoil) -> None:
    spoil(run)
    done = shell.inside("draw", LOOP, "--run", run.name)
    assert (done.status, done.out) == (2, "")
    assert run.name in done.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["small.mmd", "--run", "nosuch"], "nosuch"),
        (["--run", "last"], "run"),
        ([], "nothing to draw"),
        (["small.mmd", "--width", "0"], "--width 0"),
        (["small.mmd", "--theme", "nosuch"], "studio-light"),
        (["small.mmd", "--theme", "nosuch", "--format", "svg"], "there is no theme 'nosuch'"),
        (["empty.mmd"], "holds no chart"),
        (["only-head.mmd"], "holds no chart"),
        (["binary.mmd"], "binary.mmd"),
        (["nowhere.mmd"], "nowhere.mmd"),
        (["small.mmd", "-o", "."], "Is a directory"),
        (["small.mmd", "-o", "no/such/folder.svg"], "No such file"),
        (["small.mmd", "--format", "png"], "invalid choice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_says_what_is_wrong(
    shell: Shell, chart: Path, argv: list[str], said: str
) -> None:
    (shell.cwd / "empty.mmd").write_text("", encoding="utf-8")
    (shell.cwd / "only-head.mmd").write_text("flowchart TD\n", encoding="utf-8")
    (shell.cwd / "binary.mmd").write_bytes(bytes(range(256)) * 4)
    done = shell.inside("draw", *argv)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_five_thousand_nodes_are_drawn_and_told(shell: Shell) -> None:
    lines = [f"n{n} --> n{n + 1}" for n in range(5000)]
    (shell.cwd / "big.mmd").write_text("flowchart TD\n" + "\n".join(lines), encoding="utf-8")
    drawn = shell.inside("draw", "big.mmd", "--zoom", "dot")
    assert drawn.status == 0
    assert drawn.out.count("■") == 5001
    told = shell.inside("show", "big.mmd")
    assert "5001. Task, line 5001: n5000" in told.out
