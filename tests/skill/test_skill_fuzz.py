"""Whatever stands in a file: a skill comes out, with findings in the file and no exception."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.flow.source import Source
from flowstudio.skill import Skill, load_skill
from flowstudio.skill.fence import find_fences, mask

LINES = st.sampled_from(
    [
        "---",
        "...",
        "name: x",
        "name: [x",
        "type: flow",
        "type: 5",
        "description: a: b",
        "\tx: 1",
        "flow:",
        "  format: d2",
        "  content: |",
        "  content: >-",
        '  content: "BEGIN -> a\\nb -> END"',
        "    BEGIN -> a -> END",
        "    a: |md",
        "```mermaid",
        "~~~d2",
        "````",
        "```",
        "~~~",
        "> ```mmd",
        "- ```d2",
        "flowchart TD",
        "A([BEGIN]) --> B{ok?} -->|yes| C([END])",
        "B -->|no| B",
        "BEGIN -> a -> END",
        "a: x; b: {",
        "<!--",
        "-->",
        "text \u2028 text",
        "你好",
        "\x0b",
        "",
    ]
)
TEXTS = st.builds(
    lambda lines, newline: newline.join(lines),
    st.lists(LINES, max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
NAMES = st.sampled_from(["SKILL.md", "flat.md", "skill.yaml", "chart.mmd", "chart.d2"])


def load(data: bytes, name: str) -> Skill:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return load_skill(path)


def check(skill: Skill, data: bytes) -> None:
    source = Source(skill.source)
    last = source.place(len(skill.source))
    for found in skill.diagnostics:
        assert found.code != "reader-fault", found.message
        assert (1, 1) <= (found.span.line, found.span.column) <= last
    assert (skill.flow is not None) == (skill.type == "flow")
    assert skill.flow is None or not skill.errors
    if not skill.errors:
        assert skill.encode(skill.source) == data


@settings(max_examples=300, deadline=None)
@given(TEXTS, NAMES)
def test_lines_in_any_order_are_read(text: str, name: str) -> None:
    check(load(text.encode(), name), text.encode())


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), NAMES)
def test_any_bytes_are_read(data: bytes, name: str) -> None:
    check(load(data, name), data)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["utf-8-sig", "utf-16", "utf-32", "gb18030"]), NAMES)
def test_any_text_in_any_encoding_is_read(text: str, encoding: str, name: str) -> None:
    data = text.encode(encoding, "surrogatepass" if encoding != "gb18030" else "replace")
    check(load(data, name), data)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_character_of_a_chart_keeps_its_place(text: str) -> None:
    for fence in find_fences(text):
        if fence.quoted:
            continue
        masked = mask(text, fence.start, fence.end)
        content = text[fence.start : fence.end]
        assert masked.endswith(content)
        offset = len(masked) - len(content)
        for at in range(0, len(content), 7):
            assert Source(masked).place(offset + at) == Source(text).place(fence.start + at)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None)
@given(TEXTS, NAMES)
def test_lines_in_any_order_are_read_many_times(text: str, name: str) -> None:
    check(load(text.encode(), name), text.encode())
