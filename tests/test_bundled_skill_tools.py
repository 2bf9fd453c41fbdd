"""The scripts of the standard skills do their work on real files, on the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

SKILLS = Path(__file__).parents[1] / "skills"


def run(script: str, *arguments: object) -> tuple[int, list[str]]:
    """Exit code and lines of output; -I -S keeps packages of this machine out."""
    skill, _, name = script.partition("/")
    path = SKILLS / skill / "scripts" / name
    command = [sys.executable, "-I", "-S", "-X", "utf8", str(path), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    output = (ended.stdout + ended.stderr).decode("utf-8")
    assert "Traceback" not in output
    return ended.returncode, output.splitlines()


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "call",
    [
        ("task-tracking/board.py",),
        ("schedule-planning/slots.py",),
        ("weekly-review/week.py",),
        ("json/shape.py",),
        ("data-cleaning/variants.py", "column"),
        ("data-validation/validate.py", "rules.json"),
        ("data-conversion/compare_tables.py", "other.csv"),
        ("data-visualization/chart.py", "x", "y", "-o", "out.svg"),
        ("function-refactoring/measure.py",),
        ("error-handling/find_swallowed.py",),
    ],
    ids=lambda call: call[0].partition("/")[2],
)
def test_a_file_that_is_not_there_is_told_without_a_traceback(
    tmp_path: Path, call: tuple[str, ...]
) -> None:
    script, *rest = call
    code, said = run(script, tmp_path / "none" / "such.csv", *rest)
    assert code == 2
    assert said


# ---- task-tracking ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "section", "code"),
    [
        ("a @me due:2026-03-02 next:2026-03-04", "overdue: 1", 1),
        ("a @me wait:ops since:2026-02-20", "waiting too long: 1", 1),
        ("a @me wait:ops since:2026-03-01", "waiting: 1", 0),
        ("a @me", "no next step: 1", 0),
        ("a @me next:2026-03-01", "no next step: 1", 0),
        ("a @me due:2026-03-06 next:2026-03-04", "due soon: 1", 0),
        ("a @me due:2026-03-07 next:2026-03-04", "in hand: 1", 0),
        ("写说明 @小林 due:2026-03-03 next:2026-03-03", "due soon: 1", 0),
    ],
)
def test_board_puts_a_task_where_it_needs_attention(
    tmp_path: Path, task: str, section: str, code: int
) -> None:
    path = write(tmp_path / "l.md", f"# tasks\n- [ ] {task}\n- [x] done one\n")
    ended, said = run("task-tracking/board.py", path, "--today", "2026-03-03")
    assert ended == code
    assert said == ["2 tasks, 1 done, 1 open on 2026-03-03", "", section, f"  line 2: {task}"]


def test_board_leaves_examples_out_and_counts_what_nobody_has(tmp_path: Path) -> None:
    text = "```\n- [ ] example\n```\n- [ ] real next:2026-03-09\n"
    code, said = run(
        "task-tracking/board.py", write(tmp_path / "l.md", text), "--today", "2026-03-03"
    )
    assert code == 0
    assert said[0].startswith("1 tasks, ")
    assert said[-1] == "without an owner: 1"


def test_board_names_the_line_of_a_date_that_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "l.md", "\n- [ ] a due:tomorrow\n")
    assert run("task-tracking/board.py", path) == (
        2,
        ["line 2: due:tomorrow is no date (YYYY-MM-DD)"],
    )


# ---- schedule-planning ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "note"),
    [
        ("10:00-11:00 b", "either may move"),
        ("10:00-11:00 b !", "one may move"),
    ],
)
def test_slots_tells_who_may_give_way_in_a_collision(
    tmp_path: Path, second: str, note: str
) -> None:
    path = write(tmp_path / "d.md", f"# Wed\n{second}\n09:00-10:30 a\n")
    code, said = run("schedule-planning/slots.py", path)
    assert code == 1
    assert said[0] == f"collision: 09:00-10:30 a / {second} ({note})"


def test_slots_sees_a_short_slot_within_a_long_one_after_another(tmp_path: Path) -> None:
    text = "09:00-12:00 long !\n09:30-10:00 first\n11:00-11:30 second !\n"
    code, said = run("schedule-planning/slots.py", write(tmp_path / "d.md", text))
    assert code == 1
    assert [line for line in said if line.startswith("collision")] == [
        "collision: 09:00-12:00 long ! / 09:30-10:00 first (one may move)",
        "collision: 09:00-12:00 long ! / 11:00-11:30 second ! (neither may move: ask)",
    ]


def test_slots_lists_stretches_without_a_break_and_what_is_free(tmp_path: Path) -> None:
    text = "- 09：00-11:00 写报告\n11:00–11:30 会\n11:30-12:00 午饭\n13:00~15:00 b\n"
    code, said = run("schedule-planning/slots.py", write(tmp_path / "d.md", text), "--from", "8:30")
    assert code == 0
    assert said == [
        "no break: 09:00-11:30, 150 minutes",
        "free: 08:30-09:00",
        "free: 12:00-13:00",
        "free: 15:00-18:00",
        "planned: 300 of 570 minutes (53%)",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("25:00-26:00 a\n", "25:00 is no time of day"),
        ("\n10:00-09:00 a\n", "line 2: ends before it starts; split it at midnight"),
        ("nothing\n", "no line looks like `09:00-10:30 something`"),
    ],
)
def test_slots_refuses_what_no_clock_shows(tmp_path: Path, text: str, said: str) -> None:
    assert run("schedule-planning/slots.py", write(tmp_path / "d.md", text)) == (2, [said])


# ---- weekly-review ----------------------------------------------------------------------------


def test_week_gathers_the_days_by_kind_and_marks_what_came_up_again(tmp_path: Path) -> None:
    write(tmp_path / "2026-02-27.md", "做成：上周的\n")
    write(tmp_path / "2026-03-02.md", "# 周一\n做成：甲；乙\n卡住：等小林给测试账号\n")
    write(tmp_path / "2026-03-04.md", "Done: c\nStuck: 还在等测试账号; export slow\n")
    write(tmp_path / "2026-03-05.md", "- Not done: the EXPORT is slow\n")
    write(tmp_path / "2026-W09.md", "Done: an older page\n")
    code, said = run("weekly-review/week.py", tmp_path)
    assert code == 0
    assert said[:2] == ["# 2026-W10: 3 days with a review", "no review: Tue, Fri"]
    assert [line for line in said if line.startswith("## ")] == [
        "## done (3)",
        "## not done (1)",
        "## stuck (3)",
        "## on several days",
    ]
    assert said[-3:] == ["- export: Wed, Thu", "- slow: Wed, Thu", "- 测试账号: Mon, Wed"]


def test_week_reads_the_week_that_is_named(tmp_path: Path) -> None:
    write(tmp_path / "2026-02-27.md", "做成：上周的\n")
    write(tmp_path / "2026-03-02.md", "做成：这周的\n")
    assert "- Fri: 上周的" in run("weekly-review/week.py", tmp_path, "--week", "2026-W09")[1]
    assert run("weekly-review/week.py", tmp_path, "--week", "2026-W99")[0] == 2
    assert run("weekly-review/week.py", tmp_path, "--week", "2026-W20")[0] == 2


# ---- json -------------------------------------------------------------------------------------


def test_shape_outlines_paths_types_and_what_is_missing(tmp_path: Path) -> None:
    text = (
        '\ufeff{"users": [{"id": 1, "mail": "a@b"}, {"id": 12345678901234567890, "mail": null},'
        ' {"id": "3", "api_key": "hush"}], "n": 1, "n": 2, "空 格": []}'
    )
    code, said = run("json/shape.py", write(tmp_path / "a.json", text))
    assert code == 0
    assert said == [
        "a.json: JSON",
        "$: object 1",
        "$.users: list 1; 3 to 3 entries",
        "$.users[]: object 3",
        "$.users[].id: integer 1, integer above 2^53 1, text 1; such as 1",
        '$.users[].mail: text 1, null 1; missing 1 of 3; such as "a@b"',
        "$.users[].api_key: text 1; missing 2 of 3; such as (hidden)",
        "$.n: integer 1; such as 2",
        '$["空 格"]: list 1; 0 to 0 entries',
        "key twice in one object: n (1x)",
    ]


def test_shape_reads_json_lines_and_names_the_line_that_is_broken(tmp_path: Path) -> None:
    good = '{"a": 1}\n\n{"a": 2, "b": "x"}\n'
    code, said = run("json/shape.py", write(tmp_path / "a.jsonl", good))
    assert code == 0
    assert said[0] == "a.jsonl: JSON Lines, 2 documents"
    assert '$.b: text 1; missing 1 of 2; such as "x"' in said
    code, said = run("json/shape.py", write(tmp_path / "b.jsonl", good + "{'a': 1}\n"))
    assert code == 1
    assert said[0].startswith("line 4, column 2: ")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ('{\n "a": 1\n "b": 2\n}', "line 3, column 2: Expecting ',' delimiter", " " * 10 + "^"),
        (
            '{"a": [1, 2',
            "line 1, column 12: Expecting ',' delimiter",
            "The text ends here: it may have been cut off.",
        ),
        ("", "line 1, column 1: Expecting value", "The text ends here: it may have been cut off."),
    ],
)
def test_shape_shows_where_a_document_is_broken(
    tmp_path: Path, text: str, first: str, last: str
) -> None:
    code, said = run("json/shape.py", write(tmp_path / "a.json", text))
    assert code == 1
    assert (said[0], said[-1]) == (first, last)


def test_shape_refuses_what_is_nested_beyond_the_parser(tmp_path: Path) -> None:
    code, said = run("json/shape.py", write(tmp_path / "a.json", "[" * 100_000))
    assert (code, said) == (2, ["nested too deeply to be read"])


# ---- data-cleaning ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "group"),
    [
        ("ACME Inc.,Acme  inc,Other", "same but for dress: 'ACME Inc.' (1), 'Acme  inc' (1)"),
        ("Wei Wang,Wang Wei", "same but for dress: 'Wei Wang' (1), 'Wang Wei' (1)"),
        ("Müller,Muller", "same but for dress: 'Müller' (1), 'Muller' (1)"),
        ("１２３公司,123公司", "same but for dress: '１２３公司' (1), '123公司' (1)"),
        ("Shenzhen,Shenzehn", "one slip apart: 'Shenzehn' (1), 'Shenzhen' (1)"),
        ("Toronto,Torronto", "one slip apart: 'Toronto' (1), 'Torronto' (1)"),
        ("A10001,A10002", None),
        ("cat,car", None),
    ],
)
def test_variants_groups_spellings_of_the_same_thing(
    tmp_path: Path, values: str, group: str | None
) -> None:
    rows = "".join(f"{value};1\n" for value in values.split(","))
    code, said = run("data-cleaning/variants.py", write(tmp_path / "v.csv", "n;c\n" + rows), "n")
    assert code == int(group is not None)
    assert said[1:] == ([group] if group else [])


def test_variants_reads_gb18030_and_names_the_columns_that_there_are(tmp_path: Path) -> None:
    path = write(tmp_path / "v.csv", "城市,数\n上海,1\n上海 ,2\n", "gb18030")
    assert run("data-cleaning/variants.py", path, "城市")[0] == 1
    code, said = run("data-cleaning/variants.py", path, "city")
    assert (code, said) == (2, ["v.csv has no column city; it has 城市, 数"])


# ---- data-validation --------------------------------------------------------------------------

TABLE = "id,amount,day,status\n001,1,2026-01-01,new\n002,2,2026-01-02,paid\n"


@pytest.mark.parametrize(
    ("row", "rules", "said"),
    [
        (",1,2026-01-01,new", {"columns": {"id": {"required": True}}}, "id: required"),
        ("3,1,2026-01-01,new", {"columns": {"id": {"pattern": "\\d{3}"}}}, "id: looks like"),
        ("003,-1,2026-01-01,new", {"columns": {"amount": {"min": 0.01}}}, "amount: min 0.01"),
        ("003,x,2026-01-01,new", {"columns": {"amount": {"max": 9}}}, "amount: max 9"),
        ("003,NaN,2026-01-01,new", {"columns": {"amount": {"min": 0}}}, "amount: min 0"),
        ("003,1,2026-13-01,new", {"columns": {"day": {"date": "%Y-%m-%d"}}}, "day: date"),
        (
            "003,1,2026-01-09,new",
            {"columns": {"day": {"not_after": "2026-01-02"}}},
            "day: not_after 2026-01-02",
        ),
        ("003,1,2026-01-01,lost", {"columns": {"status": {"one_of": ["new", "paid"]}}}, "status:"),
        ("002,1,2026-01-01,new", {"key": ["id"]}, "key id is unique"),
        ("003,1", {}, "as many cells as the header"),
        (
            "003,1,2026-01-01,new",
            {"columns": {"id": {"exists_in": ["known.csv", "id"]}}},
            "id: exists in known.csv, id",
        ),
    ],
)
def test_validate_names_the_line_that_breaks_a_rule(
    tmp_path: Path, row: str, rules: dict[str, object], said: str
) -> None:
    write(tmp_path / "known.csv", "id\n001\n002\n")
    table = write(tmp_path / "t.csv", TABLE)
    rules_file = write(tmp_path / "rules.json", json.dumps(rules))
    assert run("data-validation/validate.py", table, rules_file) == (
        0,
        ["t.csv: 2 rows", "every rule is kept"],
    )
    write(table, TABLE + row + "\n")
    code, found = run("data-validation/validate.py", table, rules_file)
    assert code == 1
    assert found[1].startswith(said)
    assert found[1].endswith(": 1 of 3 rows")
    assert found[2].startswith("  line 4")
    assert table.read_text() == TABLE + row + "\n"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"rows": {"min": 3}}, "number of rows: 1 of 2 rows"),
        ({"columns": {"gone": {}}}, "column gone is there: 1 of 2 rows"),
    ],
)
def test_validate_checks_the_table_as_a_whole(
    tmp_path: Path, rules: dict[str, object], said: str
) -> None:
    table = write(tmp_path / "t.csv", TABLE)
    code, found = run(
        "data-validation/validate.py", table, write(tmp_path / "r.json", json.dumps(rules))
    )
    assert (code, found[1]) == (1, said)


@pytest.mark.parametrize(
    "rules",
    [
        "[]",
        "{",
        '{"columns": {"id": {"requird": true}}}',
        '{"columns": {"id": {"pattern": "["}}}',
        '{"columns": {"id": 3}}',
        '{"columns": {"amount": {"min": "x"}}}',
        '{"columns": {"id": {"exists_in": ["none.csv", "id"]}}}',
    ],
)
def test_validate_refuses_rules_that_make_no_sense(tmp_path: Path, rules: str) -> None:
    table = write(tmp_path / "t.csv", TABLE)
    code, said = run("data-validation/validate.py", table, write(tmp_path / "r.json", rules))
    assert code == 2
    assert said[0].startswith("cannot check: ")


# ---- data-conversion --------------------------------------------------------------------------


def test_compare_tables_finds_the_same_content_in_another_dress(tmp_path: Path) -> None:
    before = write(tmp_path / "a.csv", "id;v\n1;1.50\n2;\n")
    after = write(tmp_path / "a.json", '[{"id": 2, "v": null}, {"id": 1, "v": 1.5}]')
    lines = write(tmp_path / "a.jsonl", '{"id": 1, "v": 1.5}\n{"id": 2, "v": null}\n')
    by_key = ("--key", "id", "--as-numbers")
    same = (0, ["2 rows before, 2 after, 0 differences"])
    assert run("data-conversion/compare_tables.py", before, after, *by_key) == same
    assert run("data-conversion/compare_tables.py", before, lines, "--as-numbers") == same


def test_compare_tables_names_each_row_column_and_cell_that_differs(tmp_path: Path) -> None:
    before = write(tmp_path / "a.csv", "id,v,x\n1,007,a\n2,b,a\n3,c,a\n")
    after = write(tmp_path / "b.tsv", "id\tv\tw\n1\t7\ta\n2\tb\ta\n4\tc\ta\n")
    code, said = run("data-conversion/compare_tables.py", before, after, "--key", "id")
    assert code == 1
    assert said[1:] == [
        "column only before: x",
        "column only after: w",
        "only before: 3",
        "only after: 4",
        "1, v: '007' became '7'",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("b.csv", "id\n1\n1\n", "b.csv has id 1 twice"),
        ("b.csv", "x\n1\n", "b.csv has a row without id"),
        ("b.csv", "id,id\n1,2\n", "b.csv has two columns id"),
        ("b.json", '{"id": 1}', "b.json holds no list of objects"),
        ("b.json", "[1]", "b.json holds entries that are no objects"),
    ],
)
def test_compare_tables_refuses_what_cannot_be_matched(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    before = write(tmp_path / "a.csv", "id\n1\n")
    after = write(tmp_path / name, text)
    found = run("data-conversion/compare_tables.py", before, after, "--key", "id")
    assert found == (2, [said])


# ---- data-visualization -----------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
SALES = "month,sales\nJan,10\nFeb,12.5\nMar,\nApr,9\n<五月>,20\n"


def draw(tmp_path: Path, text: str, *options: str) -> ElementTree.Element:
    """The picture of the first two columns."""
    x, y = text.partition("\n")[0].split(",")
    table, out = write(tmp_path / "t.csv", text), tmp_path / "out.svg"
    code, said = run("data-visualization/chart.py", table, x, y, "-o", out, *options)
    assert (code, len(said)) == (0, 1)
    return ElementTree.parse(out).getroot()


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in picture.iter(f"{SVG}text")]


def test_chart_draws_bars_from_zero_in_the_ratio_of_the_numbers(tmp_path: Path) -> None:
    picture = draw(tmp_path, SALES, "--kind", "bar", "--title", "春天 & more", "--unit", "1,000 €")
    bars = [one for one in picture.iter(f"{SVG}rect") if one.get("x")]
    widths = [float(one.get("width", "")) for one in bars]
    assert len({one.get("x") for one in bars}) == 1
    assert [round(width / widths[0], 2) for width in widths] == [1.0, 1.25, 0.9, 2.0]
    assert texts(picture)[:2] == ["春天 & more", "1,000 €"]
    assert {"Jan", "12.5", "<五月>"} <= set(texts(picture))


def test_chart_breaks_a_line_where_a_value_is_missing(tmp_path: Path) -> None:
    picture = draw(tmp_path, SALES)
    (path,) = (one.get("d", "") for one in picture.iter(f"{SVG}path") if one.get("fill") == "none")
    assert path.count("M") == 2
    assert path.count("L") == 2


def test_chart_sets_dots_by_both_numbers(tmp_path: Path) -> None:
    picture = draw(tmp_path, "x,y\n0,0\n10,5\nnone,3\n5,10\n", "--kind", "dots")
    dots = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in picture.iter(f"{SVG}circle")]
    (left, bottom), (right, middle), (centre, top) = dots
    assert centre == pytest.approx((left + right) / 2, abs=0.2)
    assert middle == pytest.approx((top + bottom) / 2, abs=0.2)


@pytest.mark.parametrize("value", ["0", "-5", "1e-12", "1e18", "7"])
def test_chart_draws_a_single_value_of_any_size(tmp_path: Path, value: str) -> None:
    for kind in ("line", "bar"):
        assert texts(draw(tmp_path, f"x,y\na,{value}\n", "--kind", kind))


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("x,z\na,1\n", "line", "t.csv has no column y; it has x, z"),
        ("x,y\na,b\n", "line", "no row has a number to draw"),
        ("x,y\na,1e999\n", "bar", "no row has a number to draw"),
        ("x,y\na,1\n", "dots", "dots need numbers in both columns"),
        ("x,y\n" + "a,1\n" * 41, "bar", "41 rows are too many for bar: sum up to 40 first"),
    ],
)
def test_chart_says_why_there_is_nothing_to_draw(
    tmp_path: Path, text: str, kind: str, said: str
) -> None:
    table, out = write(tmp_path / "t.csv", text), tmp_path / "out.svg"
    found = run("data-visualization/chart.py", table, "x", "y", "-o", out, "--kind", kind)
    assert found == (2, [said])
    assert not out.exists()


# ---- function-refactoring ---------------------------------------------------------------------

TANGLED = """\
class Shop:
    def total(self, a, b, *, c=1, **rest):
        for x in a:
            if x and b:
                while c:
                    return 1
            elif b:
                raise ValueError
        def inner():
            if a:
                pass
        return [y for y in a if y]

def plain():
    return 1
"""


def test_measure_counts_what_makes_a_function_hard_to_read(tmp_path: Path) -> None:
    path = write(tmp_path / "shop.py", TANGLED)
    code, (head, *rows) = run("function-refactoring/measure.py", path)
    assert code == 0
    assert head.split() == ["lines", "depth", "params", "branches", "exits"]
    assert [row.split()[:6] for row in rows] == [
        ["11", "3", "4", "6", "3", "Shop.total"],
        ["3", "1", "0", "1", "0", "Shop.total.inner"],
        ["2", "0", "0", "0", "1", "plain"],
    ]
    assert rows[0].endswith("shop.py:2")


def test_measure_takes_one_function_and_passes_over_files_that_do_not_parse(tmp_path: Path) -> None:
    write(tmp_path / "shop.py", TANGLED)
    write(tmp_path / "old.py", "print 'x'\n")
    code, said = run("function-refactoring/measure.py", tmp_path, "plain")
    assert code == 0
    assert len([line for line in said if "plain" in line]) == 1
    assert any("old.py" in line for line in said)
    assert run("function-refactoring/measure.py", tmp_path, "nowhere")[0] == 2


# ---- error-handling ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        ("except:\n    log(1)", "bare except also catches Ctrl-C and exits"),
        ("except BaseException:\n    print(1)", "except BaseException also catches Ctrl-C"),
        ("except Exception:\n    pass", "swallows anything without a trace"),
        ("except Exception:\n    return None", "swallows anything without a trace"),
        ("except (OSError, KeyError):\n    ...", "swallows KeyError, OSError without a trace"),
        ("except Exception:\n    x = 1", "catches everything and does not tell"),
        ("except OSError:\n    raise Failed('x')", "raises Failed without `from`"),
        ("except OSError:\n    return None", None),
        ("except OSError as error:\n    raise Failed('x') from error", None),
        ("except Exception as error:\n    found.append(error)", None),
        ("except Exception:\n    log.exception('x')", None),
        ("except:\n    undo()\n    raise", None),
        ("finally:\n    return 1", "return in finally drops the error"),
    ],
)
def test_find_swallowed_tells_what_a_handler_hides(
    tmp_path: Path, handler: str, said: str | None
) -> None:
    code = "def f():\n  try:\n    work()\n  " + handler.replace("\n", "\n  ") + "\n"
    path = write(tmp_path / "a.py", code)
    ended, found = run("error-handling/find_swallowed.py", path)
    assert ended == int(said is not None)
    assert found[-1] == f"1 files, {int(said is not None)} findings"
    if said:
        assert f": {said}" in found[0]


@pytest.mark.parametrize(
    ("call", "is_odd"),
    [
        ("urlopen(u)", True),
        ("subprocess.run(c)", True),
        ("requests.get(u)", True),
        ("requests.get(u, timeout=5)", False),
        ("subprocess.run(c, **more)", False),
        ("settings.get(u)", False),
        ("app.run()", False),
    ],
)
def test_find_swallowed_tells_what_may_wait_for_ever(
    tmp_path: Path, call: str, is_odd: bool
) -> None:
    path = write(tmp_path / "a.py", call + "\n")
    code, found = run("error-handling/find_swallowed.py", path)
    assert code == int(is_odd)
    assert (len(found) == 2) is is_odd
