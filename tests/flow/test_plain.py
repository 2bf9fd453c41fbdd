"""What is read at one glance is what the reader of the whole language reads, places included."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.flow import d2_parser, mermaid
from flowstudio.flow.chart import Chart
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.mermaid import read_mermaid
from tests.flow.test_d2_any_text import D2_LIKE, D2_LINES
from tests.flow.test_d2_as_d2_draws import CHARTS as D2_CHARTS
from tests.flow.test_mermaid_any_text import texts as mermaid_texts
from tests.flow.test_mermaid_as_mermaid_draws import CHARTS as MERMAID_CHARTS


def read_wholly(read: Callable[[str], Chart], text: str) -> Chart:
    """What reading gives where nothing is read at one glance."""
    nothing = mock.Mock(return_value=None)
    with (
        mock.patch.object(mermaid, "read_plain", nothing),
        mock.patch.object(d2_parser, "read_plain", nothing),
    ):
        return read(text)


def check(read: Callable[[str], Chart], text: str) -> None:
    # Charts compare equal whatever their places are; written out, these count.
    assert repr(read(text)) == repr(read_wholly(read, text))


@pytest.mark.parametrize("text", MERMAID_CHARTS.values(), ids=MERMAID_CHARTS)
def test_a_mermaid_chart_is_read_alike(text: str) -> None:
    check(read_mermaid, text)


@pytest.mark.parametrize("text", D2_CHARTS.values(), ids=D2_CHARTS)
def test_a_d2_chart_is_read_alike(text: str) -> None:
    check(read_d2, text)


def test_the_usual_lines_are_read_at_one_glance() -> None:
    lines = [
        "a --> b",
        'a["x (y)"] --> b',
        "a{ok?} -->|yes| b(no) --> c([END])",
        'a["one<br/>two"]',
        'a -->|"x; y"|b',
    ]
    with mock.patch.object(mermaid._Reader, "_read_edges") as whole:
        read_mermaid("flowchart TD\n" + "\n".join(lines))
    assert not whole.called
    with mock.patch.object(d2_parser._Parser, "_statement") as statement:
        read_d2("a -> b -> c: yes\na: Do it - now, please.\r\nb\n\nc: x")
    assert not statement.called


_WORDS = "a b A x o _ xa end_1 ending end class graph v 1 aa.b a-b 步 BEGIN e1@"
_IDS = st.sampled_from(_WORDS.split())
_LABELS = st.sampled_from(
    [
        *("x", "x y", " x ", "x (y)", "a-b", "-a", "/a/", "x;", "100%", "%% x", "#quot;", "&lt;"),
        *("<br>", "<a", '="', "C:\\n", "`x`", "a@b", "是", "", "x\n y", "1. x", "x'", "end", "|"),
        *("$", "${x}", "null", "@f", "x # y", "{", "a: b", "...", "'"),
    ]
)
_FRAMES = st.sampled_from(
    [
        "[{}]",
        '["{}"]',
        "{{{}}}",
        '{{"{}"}}',
        "([{}])",
        '(["{}"])',
        "({})",
        '("{}")',
        "",
        "",
        "[[{}]]",
    ]
)
_NODES = st.builds(lambda i, frame, label: i + frame.format(label), _IDS, _FRAMES, _LABELS)
_ARROWS = st.one_of(
    st.sampled_from(
        [" --> ", "-->", " -->", "--> ", " ---> ", " --x ", " -- y --> ", " & ", " ~~~ "]
    ),
    st.builds(" -->|{}|{}".format, _LABELS, st.sampled_from(["", " ", "  "])),
    st.builds(' -->|"{}"| '.format, _LABELS),
)
_ENDS = st.sampled_from(
    ["\n", "\n", "\n", "\n\n  ", "\r\n", "\r", ";", " \n", " %% c\n", "\n%% c\n"]
)
_STATEMENTS = st.one_of(
    st.builds(lambda a, b, end: a + b + end, _NODES, st.just(""), _ENDS),
    st.builds(lambda a, b, c, end: a + b + c + end, _NODES, _ARROWS, _NODES, _ENDS),
    st.builds(
        lambda a, b, c, d, e, end: a + b + c + d + e + end,
        *(_NODES, _ARROWS, _NODES, _ARROWS, _NODES, _ENDS),
    ),
    st.sampled_from(
        ["subgraph s\n", "end\n", "--> b\n", "style a fill:red\n", "e1@--> c\n", "\u2028"]
    ),
)
_MERMAID = st.lists(_STATEMENTS, max_size=6).map(lambda lines: "flowchart TD\n" + "".join(lines))

_D2_ENDS = st.sampled_from(
    ["\n", "\n", "\n\n  ", "\r\n", "\r", ";", " \n", " # c\n", "", "}", "\\\n"]
)
_D2_HOPS = st.sampled_from(
    ["", " -> b", "->b", " -> b -> c", " <- b", " -- b", " -> \n", " ->", ".c"]
)
_D2_VALUES = st.one_of(
    st.just(""),
    st.builds(": {}".format, _LABELS),
    st.builds(" :{} {{".format, _LABELS),
    st.builds(': "{}"'.format, _LABELS),
    st.builds(": |md {} |".format, _LABELS),
)
_D2 = st.lists(st.builds("{}{}{}{}".format, _IDS, _D2_HOPS, _D2_VALUES, _D2_ENDS), max_size=6).map(
    "".join
)


@settings(max_examples=1_500, deadline=None)
@given(st.one_of(_MERMAID, mermaid_texts.map("flowchart TD\n{}".format)))
def test_any_mermaid_text_is_read_alike(text: str) -> None:
    check(read_mermaid, text)


@settings(max_examples=1_500, deadline=None)
@given(st.one_of(_D2, D2_LIKE, D2_LINES))
def test_any_d2_text_is_read_alike(text: str) -> None:
    check(read_d2, text)


@pytest.mark.long
@settings(max_examples=200_000, deadline=None)
@given(_MERMAID)
def test_very_many_mermaid_texts_are_read_alike(text: str) -> None:
    check(read_mermaid, text)


@pytest.mark.long
@settings(max_examples=200_000, deadline=None)
@given(_D2)
def test_very_many_d2_texts_are_read_alike(text: str) -> None:
    check(read_d2, text)
