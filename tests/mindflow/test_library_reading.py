"""Planning fields, methodologies, states and phrases: what is usable is used, the rest is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.flow.diagnostics import CODES
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.model import Library
from flowstudio.skill import Root, read_roots

type Read = Callable[..., Library]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a library of one skill `demo` with this front matter, and of files beside it."""

    def write_and_read(front: str = "", body: str = "", **beside: str) -> Library:
        (tmp_path / "demo").mkdir(exist_ok=True)
        text = f"---\nname: demo\ndescription: d\n{front}---\n{body}"
        (tmp_path / "demo" / "SKILL.md").write_text(text, encoding="utf-8")
        for name, content in beside.items():
            path = tmp_path / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return read_library(read_roots([Root(tmp_path, "project", tmp_path)]))

    return write_and_read


@pytest.mark.parametrize("indent", ["", "metadata"])
def test_planning_fields_stand_on_top_or_below_metadata(read: Read, indent: str) -> None:
    fields = (
        "preconditions: [has_csv]\neffects: [has_table, 有表格]\n"
        "methodology_scores: {meth_simple: 0.8}\nartifact: templates/a.md\n"
        "utterances: [sum it up]\n"
    )
    if indent:
        fields = "metadata:\n" + "".join(f"  {line}\n" for line in fields.splitlines())
    skill = read(fields).skills["demo"]
    assert skill.preconditions == ("has_csv",)
    assert skill.effects == ("has_table", "有表格")
    assert skill.methodology_scores == {"meth_simple": 0.8}
    assert skill.artifacts == ("templates/a.md",)
    assert skill.utterances == ("sum it up",)


@pytest.mark.parametrize(
    ("front", "effects"),
    [
        ("effects: a, b、c\n", ("a", "b", "c")),
        ("effects: [a, a, ' b ']\n", ("a", "b")),
        ("effects:\n", ()),
        ("effects: []\n", ()),
    ],
)
def test_names_may_be_written_in_several_ways(
    read: Read, front: str, effects: tuple[str, ...]
) -> None:
    library = read(front)
    assert library.skills["demo"].effects == effects
    assert library.findings == ()


@pytest.mark.parametrize(
    ("front", "code", "says"),
    [
        ("effects: 5\n", "planning-field", "not a list of names"),
        ("effects: [a, [b]]\n", "planning-field", "not a name"),
        ("effects: {a: b}\n", "planning-field", "not a name"),
        ("utterances: [1]\n", "planning-field", "not a list of texts"),
        ("artifact: [[]]\n", "planning-field", "neither a path nor a name"),
        ("methodology_scores: [a]\n", "planning-field", "not a mapping"),
        ("methodology_scores: {a: high}\n", "planning-field", "not a number from 0 to 1"),
        ("methodology_scores: {a: 1.5}\n", "planning-field", "1.5"),
        ("methodology_scores: {a: true}\n", "planning-field", "True"),
        ("methodology_scores: {a: .nan}\n", "planning-field", "nan"),
        ("called_skills: [dem]\n", "called-skill-unknown", "no skill dem"),
    ],
)
def test_what_is_odd_is_a_warning_in_its_line_and_never_a_failure(
    read: Read, front: str, code: str, says: str
) -> None:
    library = read(front)
    (said,) = library.findings
    assert (said.code, said.severity, said.span.line) == (code, "warning", 4)
    assert said.path is not None and said.path.endswith("SKILL.md")
    assert says in said.message
    assert len(CODES[code].explanation) > 60
    assert "demo" in library.skills


def test_a_called_skill_goes_by_the_name_that_it_gives_itself(read: Read) -> None:
    assert read("called_skills: [DEMO]\n").skills["demo"].called_skills == ("demo",)


def test_without_utterances_the_quotes_above_the_first_section_are_taken(read: Read) -> None:
    body = '# 演示 · Demo\n\n> “汇总一下” · "sum it up"\n\n## Steps\n\n> "not this"\n'
    skill = read(body=body).skills["demo"]
    assert skill.utterances == ("汇总一下", "sum it up")
    assert skill.title == "演示 · Demo"


def test_phrases_beside_the_skills_come_behind_a_skills_own(read: Read) -> None:
    front = "utterances:\n  en: [mine]\n  zh: [我的]\n"
    library = read(front, phrases="demo:\n  en: [more, mine]\nother: [x]\n")
    assert library.skills["demo"].utterances == ("mine", "我的", "more")
    assert library.findings == ()


METHODOLOGY = (
    "id: m\nname: {zh: 简单, en: Simple}\ndescription: d\nevaluation_rule: r\nweight: 0.5\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("methodologies__simple", METHODOLOGY),
        ("methodologies", "- " + METHODOLOGY.replace("\n", "\n  ").rstrip() + "\n"),
        (
            "methodologies",
            "# ours\nm:\n  " + METHODOLOGY.partition("\n")[2].replace("\n", "\n  "),
        ),
        ("methodologies", "methodologies:\n- " + METHODOLOGY.replace("\n", "\n  ").rstrip()),
    ],
    ids=["a file each", "a list", "by id", "a list below a word"],
)
def test_methodologies_are_read_however_they_are_laid_out(
    read: Read, name: str, content: str
) -> None:
    library = read(**{name: content})
    if name == "methodologies" and content.startswith("#"):
        library = read(**{name: "methodologies:\n  " + content[7:].replace("\n", "\n  ")})
    (one,) = library.methodologies.values()
    assert (one.id, one.name, one.weight) == ("m", "简单 / Simple", 0.5)
    assert library.findings == ()


@pytest.mark.parametrize(
    ("content", "says", "count"),
    [
        ("name: x\n", "has no id", 0),
        ("id: m\nname: n\ndescription: d\nevaluation_rule: r\nweight: heavy\n", "counts as 1", 1),
        ("id: m\n", "has no name and no description", 1),
        ("id: [\n", "cannot be read", 0),
    ],
)
def test_an_odd_methodology_is_a_warning(read: Read, content: str, says: str, count: int) -> None:
    library = read(methodologies__m=content)
    assert any(says in said.message for said in library.findings)
    assert {said.code for said in library.findings} == {"methodology-field"}
    assert len(library.methodologies) == count


def test_a_score_for_a_methodology_that_nobody_defines_is_a_warning(read: Read) -> None:
    library = read("methodology_scores: {n: 0.5}\n", methodologies__m=METHODOLOGY)
    assert [said.code for said in library.findings] == ["methodology-unknown"]


@pytest.mark.parametrize(
    "content",
    [
        "has_x: {zh: 有, en: there}\n",
        "states:\n  has_x: [有, there]\n",
        "- {id: has_x, zh: 有, en: there}\n",
    ],
)
def test_states_have_a_meaning_in_each_language(read: Read, content: str) -> None:
    assert read(states=content).states == {"has_x": "有 / there"}


def test_control_characters_never_come_through(read: Read) -> None:
    skill = read('effects: ["a\\e[31mb"]\nutterances: ["x\\u202ey"]\n').skills["demo"]
    assert skill.effects == ("a [31mb",)
    assert skill.utterances == ("x y",)
