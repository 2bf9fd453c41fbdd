"""The scripts beside bundled skills run on the bare standard library and do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SKILLS = Path(__file__).parents[1] / "skills"
SCRIPTS = sorted(SKILLS.glob("*/scripts/*.py"))


def run(script: str, *arguments: object, folder: Path | None = None) -> tuple[int, str]:
    """Exit code and all output; -I -S keeps packages of this machine out."""
    command = [sys.executable, "-I", "-S", str(SKILLS / script), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, cwd=folder, timeout=60, check=False)
    output = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    assert "Traceback" not in output
    return ended.returncode, output


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_without_arguments_says_how_to_use_it(path: Path) -> None:
    code, output = run(str(path.relative_to(SKILLS)))
    assert code == 2
    assert f"Usage: python {path.name} " in output


def test_version_places_lists_tracked_lines_that_hold_the_whole_version(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[metadata]\nversion = 1.4.2\n")
    (tmp_path / "other.txt").write_text("11.4.2\n1.4.20\n1.4.2.1\nsince v1.4.2.\n")
    (tmp_path / "untracked.txt").write_text("1.4.2\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "setup.cfg", "other.txt"], check=True)
    code, output = run("release/scripts/version_places.py", "v1.4.2", tmp_path)
    assert code == 0
    assert output.splitlines() == ["other.txt:4: since v1.4.2.", "setup.cfg:2: version = 1.4.2"]
    assert run("release/scripts/version_places.py", "9.9.9", tmp_path)[0] == 1


def test_version_places_needs_a_repository(tmp_path: Path) -> None:
    code, output = run("release/scripts/version_places.py", "1.0", tmp_path / "none")
    assert code == 2
    assert output.strip()


def test_timeline_appends_one_line_with_the_time_since_the_first(tmp_path: Path) -> None:
    log = tmp_path / "incident" / "log.md"
    assert run("incident/scripts/timeline.py", log, "alert", "错误率 40 %\nsince 09:12")[0] == 0
    first = log.read_text(encoding="utf-8")
    stamp = r"- \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(\+00:00\) "
    assert re.fullmatch(stamp + r"alert: 错误率 40 % since 09:12\n", first)
    log.write_text("- 2026-03-02 09:14:07Z (+00:00) alert: x", encoding="utf-8")
    assert run("incident/scripts/timeline.py", log, "ann", "looked")[0] == 0
    before, added = log.read_text(encoding="utf-8").splitlines()
    assert before.endswith("alert: x")
    assert re.fullmatch(r"- .*Z \(\+\d{2,}:\d\d\) ann: looked", added)


PRICE = "def half(price: int) -> bool:\n    if price > 10:\n        return True\n    return False\n"


@pytest.mark.parametrize(
    ("line", "check", "code", "said"),
    [
        (2, "half(11) and not half(10)", 0, "if price >= 10:"),
        (2, "half(99)", 1, "if price >= 10:"),
        (3, "half(99)", 0, "return False"),
        (1, "half(99)", 2, "cannot be broken"),
        (9, "half(99)", 2, "cannot be broken"),
        (2, "half(1)", 2, "fails before anything is broken"),
    ],
)
def test_bite_tells_whether_a_test_notices_a_broken_line(
    tmp_path: Path, line: int, check: str, code: int, said: str
) -> None:
    source = tmp_path / "price.py"
    source.write_text(PRICE)
    before = source.stat().st_mtime_ns
    test = [sys.executable, "-c", f"from price import half; raise SystemExit(not ({check}))"]
    ended, output = run(
        "test-writing/scripts/bite.py", "price.py", line, "--", *test, folder=tmp_path
    )
    assert ended == code
    assert said in output
    assert (source.read_text(), source.stat().st_mtime_ns) == (PRICE, before)


def test_bite_drops_a_whole_line_where_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "price.py").write_text(PRICE)
    test = [sys.executable, "-c", "from price import half; raise SystemExit(not half(11))"]
    arguments = ("price.py", 3, "--drop", "--", *test)
    code, output = run("test-writing/scripts/bite.py", *arguments, folder=tmp_path)
    assert code == 0
    assert "price.py:3 is now: pass" in output


CHINESE = (
    "# 标题\n\n- 打开 `a.txt`，见 https://example.com/a。\n\n1. 等 30 秒\n\n"
    "```sh\nls  # 列出\n```\n"
)
ENGLISH = (
    "# Title\n\n- Open `a.txt`, see https://example.com/a.\n\n1. Wait 30 seconds\n\n"
    "```sh\nls  # list\n```\n"
)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "", "The structure is the same."),
        ("# Title", "## Title", "headings of level 1: 1 in the original, 0 in the translation"),
        ("- Open", "Open", "list items: 2 in the original, 1 in the translation"),
        ("`a.txt`", "`b.txt`", "inline code missing (1x): a.txt"),
        ("/a.", "/b.", "link missing (1x): https://example.com/a"),
        ("30", "13", "number added (1x): 13"),
        ("ls  #", "ls -l  #", "code block 1 is not the same"),
        ("```sh\nls  # list\n```\n", "", "code blocks: 1 in the original, 0 in the translation"),
    ],
)
def test_compare_names_what_a_translation_changed(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    (tmp_path / "zh.md").write_text(CHINESE, encoding="utf-8")
    english = ENGLISH.replace(before, after) if before else ENGLISH
    (tmp_path / "en.md").write_text(english, encoding="utf-8")
    code, output = run("translate/scripts/compare.py", tmp_path / "zh.md", tmp_path / "en.md")
    assert code == int(bool(before))
    assert said in output.splitlines()


CARDS = "## [1] One\n- 链接：https://example.com/1\n\n## [2] Two\n- link: https://example.com/2\n"


@pytest.mark.parametrize(
    ("report", "cards", "code", "said"),
    [
        ("It holds [1, 2].", CARDS, 0, "All 2 citations have their card."),
        ("It holds [1].", CARDS, 0, "Not cited: [2]"),
        ("It holds [1].\nSo does this [7].", CARDS, 1, "report, line 2: [7] has no card"),
        ("It holds [1].", CARDS + "## [1] Again\n- 链接：x\n", 1, "line 6: [1] is already"),
        ("It holds [1].", "## [1] One\n", 1, "line 1: card [1] has no link"),
        ("`a[1]` and [1](x)", CARDS, 1, "the report cites nothing"),
    ],
)
def test_check_citations_finds_what_has_no_card(
    tmp_path: Path, report: str, cards: str, code: int, said: str
) -> None:
    (tmp_path / "report.md").write_text(report, encoding="utf-8")
    (tmp_path / "cards.md").write_text(cards, encoding="utf-8")
    script = "research-report/scripts/check_citations.py"
    ended, output = run(script, tmp_path / "report.md", tmp_path / "cards.md")
    assert ended == code
    assert said in output


@pytest.mark.parametrize(
    ("encoding", "delimiter"),
    [("utf-8", ","), ("utf-8-sig", ";"), ("gb18030", "\t"), ("utf-16", "|")],
)
def test_look_describes_a_table_in_any_usual_dress(
    tmp_path: Path, encoding: str, delimiter: str
) -> None:
    rows = [["编号", "name", "amount"], ["007", "甲", "10"], ["008", "乙", ""], ["009", "丙"]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    code, output = run("csv/scripts/look.py", tmp_path / "t.csv")
    first, odd, *columns = output.splitlines()
    assert code == 0
    assert first.endswith("3 rows, 3 columns")
    assert odd == "rows of another length: 1"
    assert columns[1].startswith("编号: digits with leading zeros 3; 0.0% empty; 3 distinct")
    assert columns[3].startswith("amount: integer 1; 50.0% empty; 1 distinct; from 10 to 10")
