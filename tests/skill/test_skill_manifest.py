"""What a skill's file says: fields, type, and which chart is the flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.flow.diagnostics import CODES
from flowstudio.skill import Skill, codes as skill_codes, load_skill

type Load = Callable[..., Skill]

MERMAID = "```mermaid\nflowchart TD\nA([BEGIN]) --> B[work] --> Z([END])\n```\n"
D2 = "```d2\nBEGIN -> work -> END\n```\n"
SEQUENCE = "```mermaid\nsequenceDiagram\nAlice->>Bob: hi\n```\n"
HEAD = "---\nname: demo\ndescription: Does it.\ntype: flow\n---\n"


def said(skill: Skill) -> list[tuple[str, int, int]]:
    """Code, line and column of each finding."""
    return [(d.code, d.span.line, d.span.column) for d in skill.diagnostics]


# ---- fields ---------------------------------------------------------------------------------


def test_all_fields_are_kept_as_yaml_reads_them(load: Load) -> None:
    skill = load(
        "---\nname: a b.c\ndescription: >\n  Two\n  lines.\neffects: [x]\nscore: 0.5\n---\nText.\n"
    )
    assert (skill.name, skill.description, skill.body) == ("a b.c", "Two lines.", "Text.\n")
    assert skill.meta["effects"] == ["x"]
    assert skill.meta["score"] == 0.5
    assert (skill.type, skill.diagnostics) == ("standard", ())
    assert skill.command == "/skill:a b.c"


@pytest.mark.parametrize(
    ("fields", "expected", "name"),
    [
        ("description: d", [("name-missing", 1, 1)], "demo"),
        ("name:\ndescription: d", [("name-missing", 1, 1)], "demo"),
        ('name: "  "\ndescription: d', [("name-missing", 1, 1)], "demo"),
        ("name: 123\ndescription: d", [("name-type", 2, 7)], "123"),
        ("name: yes\ndescription: d", [("name-type", 2, 7)], "yes"),
        ("name: 2026-01-20\ndescription: d", [("name-type", 2, 7)], "2026-01-20"),
        ("name: [a, b]\ndescription: d", [("name-type", 2, 7)], "demo"),
        ("name: x\ndescription: 5", [("name-type", 3, 14)], "x"),
        ("name: x", [("description-missing", 1, 1)], "x"),
        ("name: x\nname: y\ndescription: d", [("key-repeated", 3, 1)], "y"),
        ("name: x\ndescription: d\ntype: workflow", [("type-unknown", 4, 7)], "x"),
        ("name: x\ndescription: d\ntype: [flow]", [("type-unknown", 4, 7)], "x"),
        ("name: x\ndescription: d\ntype: Standard", [], "x"),
    ],
)
def test_odd_fields_are_reported_at_their_place(
    load: Load, fields: str, expected: list[tuple[str, int, int]], name: str
) -> None:
    skill = load(f"---\n{fields}\n---\nBody.\n")
    assert said(skill) == expected
    assert skill.name == name
    assert skill.type == "standard"
    assert all(d.hint for d in skill.diagnostics)


@pytest.mark.parametrize(
    ("fields", "line", "column", "hint"),
    [
        ("name: x\ndescription: Use when: always", 3, 22, 'description: "Use when: always"'),
        ("name: x\n\tdescription: d", 3, 1, "spaces"),
        ("name: x\ndescription: @home", 3, 14, "quotes"),
        ("name: x\ntags: [a, b\ndescription: d", 4, 12, ""),
        ("name: x\nref: *y\ndescription: d", 3, 6, "quotes"),
        ("名字: 你好\nname: x: y\ndescription: d", 3, 8, "quotes"),
        ("name: x\ndescription: a\x07b", 3, 15, "invisible"),
        ("name: x\ndescription: !x d", 3, 14, "quotes"),
    ],
)
def test_bad_yaml_is_reported_where_it_is_bad(
    load: Load, fields: str, line: int, column: int, hint: str
) -> None:
    skill = load(f"---\n{fields}\n---\nBody.\n")
    assert said(skill) == [("yaml-syntax", line, column)]
    assert hint in skill.diagnostics[0].hint


def test_bad_yaml_costs_neither_the_name_nor_the_type(load: Load) -> None:
    skill = load(f"---\nname: x\ndescription: Use: it\ntype: flow # a flow\n---\n{MERMAID}")
    assert (skill.name, skill.description) == ("x", "Use: it")
    assert (skill.declared_type, skill.type, skill.flow) == ("flow", "standard", None)
    assert skill.chart is not None
    assert len(skill.chart.nodes) == 3


@pytest.mark.parametrize(
    "fields",
    [
        "- a\n- b",
        "just text",
        "x: &a {b: 1}\ny: {<<: *a}",
        "x: " + "[" * 100 + "]" * 100,
        "x: " + "- " * 200_000,
        "x: &a 1\ny: [" + "*a, " * 100 + "]",
    ],
    ids=["list", "text", "merge key", "deep brackets", "deep dashes", "many aliases"],
)
def test_yaml_that_no_skill_needs_is_not_read(load: Load, fields: str) -> None:
    skill = load(f"---\n{fields}\n---\nBody.\n")
    assert {d.code for d in skill.errors} <= {"yaml-shape", "yaml-syntax"}
    assert skill.errors
    assert skill.name == "demo"


def test_a_date_that_does_not_exist_is_no_crash(load: Load) -> None:
    assert [d.code for d in load("---\nname: x\nday: 2026-02-31\n---\n").diagnostics] == [
        "yaml-shape"
    ]


def test_no_terminal_escape_gets_into_a_name(load: Load) -> None:
    skill = load('---\nname: "a\\e[31mb"\ndescription: "c\\0d"\ntype: "x\\e]0;y"\n---\n')
    shown = [skill.name, skill.description, *(d.message for d in skill.diagnostics)]
    assert all("\x1b" not in text and "\0" not in text for text in shown)


# ---- front matter ---------------------------------------------------------------------------


def test_without_front_matter_the_folder_gives_the_name(load: Load) -> None:
    skill = load("# Just text\n\n---\n\nmore\n")
    assert (skill.name, skill.description, skill.type) == ("demo", "", "standard")
    assert said(skill) == [("front-matter-missing", 1, 1)]
    assert skill.body == skill.source


def test_front_matter_after_blank_lines_is_read_with_a_warning(load: Load) -> None:
    skill = load(f"\n\n{HEAD}{MERMAID}")
    assert said(skill) == [("front-matter-late", 3, 1)]
    assert (skill.name, skill.type) == ("demo", "flow")


@pytest.mark.parametrize(
    "end", ["\n# Title\n", f"\n{MERMAID}\n---\n", "", "\nText that goes on.\n"]
)
def test_front_matter_that_is_never_closed_is_an_error_at_its_opening(load: Load, end: str) -> None:
    skill = load(f"---\nname: x\ndescription: d\ntype: flow{end}")
    assert ("front-matter-unclosed", 1, 1) in said(skill)
    assert (skill.name, skill.declared_type, skill.type) == ("x", "flow", "standard")


def test_a_rule_in_the_text_does_not_count_as_front_matter(load: Load) -> None:
    skill = load(f"{HEAD}text\n\n---\n\n{MERMAID}")
    assert skill.diagnostics == ()
    assert skill.type == "flow"


def test_three_dots_close_the_front_matter_too(load: Load) -> None:
    assert load(f"---\nname: x\ndescription: d\n...\n{MERMAID}").body == MERMAID


# ---- the chart ------------------------------------------------------------------------------


@pytest.mark.parametrize(("block", "language"), [(MERMAID, "mermaid"), (D2, "d2")])
def test_a_flow_skill_holds_a_flow(load: Load, block: str, language: str) -> None:
    skill = load(f"{HEAD}text\n\n{block}")
    assert skill.diagnostics == ()
    assert (skill.type, skill.command) == ("flow", "/flow:demo")
    assert skill.chart is not None
    assert skill.chart.language == language
    assert skill.flow is not None
    assert len(skill.flow.nodes) == 3


def test_places_are_those_of_the_file(load: Load) -> None:
    skill = load(
        f"{HEAD}1. list\n\n   ```mermaid\n   graph TD\n   A([BEGIN]) --> B[work]-->Z([END])\n   ```"
    )
    assert skill.flow is not None
    span = skill.flow.nodes["B"].label_span
    assert span is not None
    line = skill.source.splitlines()[span.line - 1]
    assert line[span.column - 1 : span.end_column - 1] == "work"
    assert skill.chart_text.splitlines()[span.line - 1] == line


@pytest.mark.parametrize(
    "before", [SEQUENCE, SEQUENCE * 2, "```python\nx = 1\n```\n", "```\nA\n```\n"]
)
def test_the_first_block_that_holds_a_flowchart_is_the_flow(load: Load, before: str) -> None:
    skill = load(f"{HEAD}{before}{D2}{MERMAID}")
    assert skill.diagnostics == ()
    assert skill.chart is not None
    assert skill.chart.language == "d2"


def test_a_chart_that_holds_nothing_is_passed_over_with_a_warning(load: Load) -> None:
    skill = load(f"{HEAD}```mermaid\n%% to come\n```\n{D2}")
    assert said(skill) == [("chart-skipped", 6, 1)]
    assert skill.type == "flow"


def test_a_broken_first_chart_is_not_passed_over(load: Load) -> None:
    broken = MERMAID.replace("[work]", "[work")
    skill = load(f"{HEAD}{broken}{D2}")
    assert skill.errors[0].code == "label-unclosed"
    assert (skill.type, skill.declared_type, skill.flow) == ("standard", "flow", None)


def test_a_flow_without_a_chart_says_so_where_it_is_called_a_flow(load: Load) -> None:
    skill = load(f"{HEAD}text\n")
    assert said(skill) == [("chart-missing", 4, 7)]
    assert (skill.type, skill.declared_type, skill.chart) == ("standard", "flow", None)


def test_a_chart_without_a_tag_is_pointed_at(load: Load) -> None:
    skill = load(HEAD + MERMAID.replace("mermaid", ""))
    assert said(skill) == [("chart-missing", 4, 7)]
    assert skill.diagnostics[0].related[0].span.line == 6
    assert "line 6" in skill.diagnostics[0].hint


@pytest.mark.parametrize("block", ["```mermaid\n```\n", "```d2\n# to come\n```\n"])
def test_a_chart_that_holds_nothing_is_missing_at_its_block(load: Load, block: str) -> None:
    assert said(load(f"{HEAD}text\n{block}")) == [("chart-missing", 7, 1)]


def test_a_chart_of_another_type_alone_is_an_error(load: Load) -> None:
    skill = load(HEAD + SEQUENCE)
    (error,) = skill.diagnostics
    assert error.code == "chart-type"
    assert error.span.line in (6, 7)


def test_an_unclosed_fence_is_an_error_at_the_fence(load: Load) -> None:
    skill = load(HEAD + MERMAID.removesuffix("```\n") + "\nText goes on.\n``` end\n")
    assert said(skill) == [("fence-unclosed", 6, 1)]
    assert skill.diagnostics[0].related[0].span.line == 11
    assert skill.flow is None


def test_a_standard_skill_keeps_its_diagrams_to_itself(load: Load) -> None:
    skill = load(f"---\nname: x\ndescription: d\ntype: standard\n---\n{MERMAID}")
    assert (skill.type, skill.chart, skill.diagnostics) == ("standard", None, ())


@pytest.mark.parametrize("last", [True, False])
def test_hundreds_of_other_diagrams_are_passed_over(load: Load, last: bool) -> None:
    skill = load(HEAD + SEQUENCE * 300 + (D2 if last else ""))
    assert [d.code for d in skill.diagnostics] == ([] if last else ["chart-type"])


def test_a_flow_that_is_not_called_one_is_noticed(load: Load) -> None:
    assert said(load(f"---\nname: x\ndescription: d\n---\n{MERMAID}")) == [("type-missing", 1, 1)]
    assert said(load(f"---\nname: x\ndescription: d\n---\n{SEQUENCE}")) == []


def test_only_the_front_matter_is_read_where_that_is_enough(load: Load) -> None:
    skill = load(f"{HEAD}{MERMAID}")
    quick = load_skill(skill.path, charts=False)
    assert (quick.name, quick.type, quick.checked) == ("demo", "flow", False)
    assert (quick.chart, quick.flow) == (None, None)


def test_a_fault_in_a_reader_becomes_a_finding(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("flowstudio.skill.chart.read_chart", fail)
    skill = load(f"{HEAD}{MERMAID}")
    assert said(skill) == [("reader-fault", 1, 1)]
    assert (skill.name, skill.declared_type, skill.type) == ("demo", "flow", "standard")


# ---- the other kinds of file ----------------------------------------------------------------


def test_a_flat_file_is_a_skill(load: Load) -> None:
    assert load(HEAD.replace("demo", "Flat One") + D2, "flat.md").flow is not None


def test_a_flat_files_name_stands_in(load: Load) -> None:
    assert load("---\ndescription: d\n---\n", "flat.md").name == "flat"


def test_a_folder_is_its_manifest(load: Load) -> None:
    skill = load(HEAD + D2)
    assert load_skill(skill.root).path == skill.path


def test_a_folder_with_two_manifests_says_which_one_counts(load: Load, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "skill.yaml").write_text("name: other\n")
    assert [d.code for d in load(HEAD + D2).diagnostics] == ["manifest-twice"]


@pytest.mark.parametrize("name", ["chart.mmd", "chart.mermaid"])
def test_a_bare_mermaid_chart_is_a_flow_skill(load: Load, name: str) -> None:
    skill = load("%% Say what it is for.\nflowchart TD\nA([BEGIN]) --> B --> Z([END])\n", name)
    assert (skill.name, skill.type, skill.description) == ("chart", "flow", "Say what it is for.")
    assert skill.chart_text == skill.source


def test_a_bare_d2_chart_is_a_flow_skill(load: Load) -> None:
    skill = load("# Say what it is for.\nBEGIN -> B -> END\n", "chart.d2")
    assert (skill.name, skill.type, skill.description) == ("chart", "flow", "Say what it is for.")


YAML = "name: y\ntype: flow\ndescription: d\nflow:\n  format: d2 # or mermaid\n"


@pytest.mark.parametrize(
    "content",
    [
        "  content: |\n    BEGIN -> work -> END\n    work: do it\n",
        "  content: |-\n    BEGIN -> work -> END\n    work: do it",
        "  content: |2\n      BEGIN -> work -> END\n      work: do it\n",
        '  content: "BEGIN -> work -> END\\nwork: do it"\n',
        '  content: "BEGIN -> work -> END\\n   work: do it\\n"\n',
        "  content: >\n    BEGIN -> work -> END\n\n    work: do it\n",
        "  content: 'BEGIN -> work -> END\n\n    work: do it'\n",
    ],
)
def test_the_flow_of_a_skill_yaml_has_the_places_of_the_file(load: Load, content: str) -> None:
    skill = load(YAML + content, "skill.yaml")
    assert skill.diagnostics == ()
    assert (skill.name, skill.type) == ("y", "flow")
    assert skill.flow is not None
    span = skill.flow.nodes["work"].label_span
    assert span is not None
    assert (
        skill.source.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1] == "do it"
    )


def test_what_stands_behind_the_content_is_no_part_of_it(load: Load) -> None:
    text = YAML + "  content: |\n    BEGIN -> work\n    work -> END\n# a -> b\nlast: c -> d\n"
    assert load(text, "skill.yaml").diagnostics == ()


def test_an_error_in_an_escaped_chart_is_said_of_the_whole_value(load: Load) -> None:
    skill = load(YAML + '  content: "BEGIN -> a\\na: \\"x\\ty"\n', "skill.yaml")
    assert skill.errors
    assert {d.span.line for d in skill.errors} == {6}


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("name: y\ntype: flow\ndescription: d\n", "flow-content", 2, 7),
        ("name: y\ntype: flow\ndescription: d\nflow: text\n", "flow-content", 4, 7),
        (YAML, "flow-content", 5, 3),
        (YAML + "  content: [a]\n", "flow-content", 6, 12),
        (YAML.replace("d2 #", "dot #") + "  content: |\n    a\n", "flow-format", 5, 11),
        (YAML + "  content: |\n    a\n  bad\n", "yaml-syntax", 9, 1),
        ("- a\n", "yaml-shape", 1, 1),
        ("name: y\ndescription: d\nflow:\n  content: x\n", "type-missing", 4, 12),
    ],
)
def test_a_skill_yaml_without_a_flow_says_where(
    load: Load, text: str, code: str, line: int, column: int
) -> None:
    skill = load(text, "skill.yaml")
    assert (code, line, column) in said(skill)
    assert skill.type == "standard"


def test_the_language_of_a_skill_yaml_can_be_left_out(load: Load) -> None:
    text = YAML.replace("  format: d2 # or mermaid\n", "  content: |\n    BEGIN -> a -> END\n")
    skill = load(text, "skill.yaml")
    assert said(skill) == [("flow-format-guessed", 5, 12)]
    assert skill.type == "flow"


# ---- the codes ------------------------------------------------------------------------------


def test_every_code_is_explained() -> None:
    own = [value for name, value in vars(skill_codes).items() if name.isupper()]
    assert len(own) > 25
    assert all(len(CODES[code].explanation) > 60 for code in own)
