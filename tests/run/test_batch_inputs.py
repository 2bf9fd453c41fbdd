"""The inputs of a batch: what a line may be, and where a bad one is bad."""

from __future__ import annotations

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.batch_inputs import BadLine, BatchInput, find_missing, read_inputs


@pytest.mark.parametrize(
    ("line", "text", "variables"),
    [
        ('"the bug"', "the bug", {}),
        ('{"input": "the bug"}', "the bug", {}),
        ('{"vars": {"lang": "中文"}}', None, {"lang": "中文"}),
        ('{"input": "x", "vars": {"n": 3, "f": 0.5, "b": true}}', "x",
         {"n": "3", "f": "0.5", "b": "true"}),
        ("{}", None, {}),
        ('""', "", {}),
        ('  "indented"\t', "indented", {}),
    ],
)  # fmt: skip
def test_a_line_is_a_text_or_an_object(
    line: str, text: str | None, variables: dict[str, str]
) -> None:
    assert read_inputs(line.encode()) == ([BatchInput(1, text, variables)], [])


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ('{"input": "x",}', 15, "this is not JSON"),
        ('{"input": "x"', 14, "this is not JSON"),
        ("hello", 1, "this is not JSON: expecting value"),
        ('  [1, 2]', 3, "a line is a text, or an object"),
        ("3", 1, "a line is a text, or an object"),
        ("null", 1, "a line is a text, or an object"),
        ('{"input": 3}', 2, "“input” must be a text"),
        ('{"input": null}', 2, "“input” must be a text"),
        ('{"input": "x", "var": {}}', 16, "“var” is not known"),
        ('{"vars": []}', 2, "“vars” must be an object"),
        ('{"vars": {"a": "x", "b": [1]}}', 21, "the variable “b” must be a text or a number"),
        ('{"vars": {"a": null}}', 11, "the variable “a” must be"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('{"input": 1' + "0" * 5000 + "}", 1, "this is not JSON"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)  # fmt: skip
def test_a_bad_line_is_told_with_its_column(line: str, column: int, said: str) -> None:
    inputs, bad = read_inputs(b'"good"\n' + line.encode())
    assert inputs == [BatchInput(1, "good")]
    assert [(one.line, one.column) for one in bad] == [(2, column)]
    assert said in bad[0].message


def test_every_bad_line_is_told() -> None:
    _, bad = read_inputs(b'x\n"good"\n{"a": 1}\ny')
    assert [one.line for one in bad] == [1, 3, 4]


def test_the_column_of_bytes_that_are_no_utf8_counts_characters() -> None:
    assert read_inputs('"中'.encode() + b'\xff"') == ([], [BadLine(1, 3, "this is not UTF-8")])


@pytest.mark.parametrize("data", [b"", b"\n\n", b"  \r\n", b"\xef\xbb\xbf"])
def test_blank_lines_give_no_input(data: bytes) -> None:
    assert read_inputs(data) == ([], [])


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    inputs, _ = read_inputs(b'\xef\xbb\xbf"a"\r\n\r\n"b\\u2028"\n"c\xe2\x80\xa8d"')
    assert [(one.line, one.input) for one in inputs] == [(1, "a"), (3, "b\u2028"), (4, "c\u2028d")]


def test_a_line_that_leaves_a_place_in_a_prompt_empty_is_told() -> None:
    flow = parse_mermaid_flowchart("flowchart TD\nBEGIN --> a[for {{who}}: $ARGUMENTS] --> END")
    inputs, _ = read_inputs(b'"x"\n{"input": "", "vars": {"who": "us"}}\n{"vars": {"who": "us"}}')
    found = [*find_missing(inputs, flow)]
    assert [one.line for one in found] == [1, 3]
    assert "holds {{who}}" in found[0].message
    assert "holds $ARGUMENTS" in found[1].message
    assert [one.line for one in find_missing(inputs, flow, needs_input=False)] == [1]
