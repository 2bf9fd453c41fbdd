"""The source pane's parts, each by itself: merging, line ends, completions, inks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.skill import load_skill
from flowstudio.studio.merge import merge
from flowstudio.studio.source_complete import complete
from flowstudio.studio.source_ink import Inked, ink
from flowstudio.studio.source_text import changed_part, to_lines, to_source, visible
from tests.studio.kit import DEMO, write_skill

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)
ENDS = st.lists(st.sampled_from(["x", "\n", "\r\n", "\r", "\x0c", "\u2028", "写"]), max_size=12)


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        pytest.param("A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", id="different lines"),
        pytest.param("a\nx\nb\nc\n", "a\nb\n", "a\nx\nb\n", id="one adds, one deletes"),
        pytest.param("A\nb\nc\n", "A\nb\nc\n", "A\nb\nc\n", id="the same change"),
        pytest.param("a\nb\nc\nd\n", "0\na\nb\nc\n", "0\na\nb\nc\nd\n", id="at both ends"),
    ],
)
def test_changes_of_different_lines_both_stand(mine: str, theirs: str, merged: str) -> None:
    assert merge("a\nb\nc\n", mine, theirs).text == merged
    assert merge("a\nb\nc\n", mine, theirs).conflicts == 0


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("a\nX\nc\n", "a\nY\nc\n"), ("a\nc\n", "a\nY\nc\n"), ("a\nX\nb\nc\n", "a\nY\nb\nc\n")],
)
def test_different_changes_of_the_same_line_are_a_conflict(mine: str, theirs: str) -> None:
    result = merge("a\nb\nc\n", mine, theirs)
    assert result.conflicts == 1
    assert result.text == mine


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_merging_knows_no_favourite_and_loses_no_change(base: str, mine: str, theirs: str) -> None:
    assert merge(base, mine, base).text == mine
    assert merge(base, base, theirs).text == theirs
    one, other = merge(base, mine, theirs), merge(base, theirs, mine)
    assert (one.conflicts == 0) == (other.conflicts == 0)
    if not one.conflicts:
        assert one.text == other.text


@given(ENDS.map("".join))
def test_a_text_that_was_not_edited_is_written_back_to_the_byte(source: str) -> None:
    assert to_source(to_lines(source), source) == source
    assert len(visible(to_lines(source))) == len(to_lines(source))


@given(TEXTS, TEXTS)
def test_the_changed_part_makes_one_text_of_the_other(before: str, after: str) -> None:
    start, end, new = changed_part(before, after)
    assert before[:start] + new + before[end:] == after


def test_nothing_that_acts_on_a_terminal_is_shown() -> None:
    assert visible("a\x1b[31m\x9b\u202e\tb") == "a␛[31m��\tb"


@pytest.mark.parametrize(
    ("before", "language", "front", "first", "words"),
    [
        ("  a --> wr", "mermaid", False, False, ("write", "rewrite")),
        ("  sub", "mermaid", False, False, ("subgraph",)),
        ("flow", "mermaid", False, True, ("flowchart TD", "flowchart LR")),
        ("ty", None, True, False, ("type: flow", "type: standard")),
        ("plain wr", None, False, False, ()),
        ("a.sh", "d2", False, False, ()),
    ],
)
def test_what_may_be_typed_depends_on_where_the_cursor_stands(
    before: str, language: str | None, front: bool, first: bool, words: tuple[str, ...]
) -> None:
    nodes = ["BEGIN", "write", "rewrite", "END"]
    found = complete(before, nodes, language, in_front=front, first=first)  # type: ignore[arg-type]
    assert found.words == words


@pytest.fixture
def inked(tmp_path: Path) -> Inked:
    skill = load_skill(write_skill(tmp_path, DEMO))
    return ink(skill, DEMO.split("\n"))


def test_inks_tell_ids_labels_branches_and_arrows_apart(inked: Inked) -> None:
    line = inked.lines[12]
    assert line.strip() == "good -->|no| mend[Mend what is bad]"
    assert [(line[one.start : one.end], one.role) for one in inked.inks[12]] == [
        ("good", "id"),
        ("-->", "arrow"),
        ("no", "branch"),
        ("mend", "id"),
        ("Mend what is bad", "label"),
    ]


def test_a_place_tells_its_node(inked: Inked) -> None:
    line = inked.lines[12]
    assert inked.node_at(12, line.index("good")) == "good"
    assert inked.node_at(12, line.index("what")) == "mend"
    assert inked.node_at(0, 0) is None


def test_inks_stay_with_their_words_while_a_line_is_typed_in(inked: Inked) -> None:
    line = inked.lines[12]
    typed = line.replace("what", "all what")
    roles = {typed[one.start : one.end]: one.role for one in inked.of(12, typed)}
    assert roles["Mend all what is bad"] == "label"
    assert roles["good"] == "id"
    assert list(inked.of(40, line)) == inked.inks[12]
