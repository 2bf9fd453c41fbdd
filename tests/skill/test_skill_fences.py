"""Which code block of a Markdown text is a chart, and that its places stay those of the file."""

from __future__ import annotations

import pytest

from flowstudio.flow.source import Source
from flowstudio.skill.fence import find_fences, mask

TICKS = "```"


def charts(text: str) -> list[str]:
    """The contents of the blocks that are tagged as charts."""
    return [text[f.start : f.end] for f in find_fences(text) if f.language]


@pytest.mark.parametrize(
    "opening",
    [
        "```mermaid",
        "``` mermaid",
        "````mermaid",
        "~~~mermaid",
        "~~~~~~ mermaid",
        "```Mermaid",
        "```mmd",
        "```MMD",
        "```d2",
        "```D2",
        '```mermaid title="the flow"',
        "```mermaid {#id .class}",
        "```{mermaid}",
        "```{.mermaid}",
        "  ```mermaid",
        "        ```mermaid",
        "\t```mermaid",
        "- ```mermaid",
        "1. ```mermaid",
        "> ```mermaid",
        "> - ```mermaid",
    ],
)
def test_a_fence_tagged_as_a_chart_is_one(opening: str) -> None:
    lead = opening[: len(opening) - len(opening.lstrip(" \t-1.>"))]
    sign = "~" if "~" in opening else "`"
    closing = lead.replace("-", " ").replace("1.", "  ") + sign * opening.count(sign)
    assert charts(f"text\n\n{opening}\nA --> B\n{closing}\nmore text\n") == ["A --> B\n"]


@pytest.mark.parametrize(
    "opening",
    [
        "```",
        "```text",
        "```mermaidx",
        "```d2lang",
        "``mermaid",
        "~~mermaid",
        "text ```mermaid",
        "```mermaid `x`",
        "`` `mermaid",
        "# ```mermaid",
    ],
)
def test_anything_else_is_no_chart(opening: str) -> None:
    assert charts(f"{opening}\nA --> B\n```\n") == []


@pytest.mark.parametrize("line", ["``", "~~~", "```mermaid", "``` x", "    ```", "x ```", "> ```"])
def test_what_does_not_close_a_fence_belongs_to_the_chart(line: str) -> None:
    assert charts(f"```mermaid\nA\n{line}\nB\n```\n") == [f"A\n{line}\nB\n"]


@pytest.mark.parametrize("line", ["```", "`````", "``` \t", " ```", "   ```"])
def test_what_closes_a_fence_ends_the_chart(line: str) -> None:
    assert charts(f"```mermaid\nA\n{line}\nB\n```\n") == ["A\n"]


def test_a_longer_fence_holds_shorter_ones() -> None:
    inner = "```yaml\nx: 1\n```\n"
    assert charts(f"````d2\na: |md\n{inner}|\n````\n") == [f"a: |md\n{inner}|\n"]


def test_an_example_inside_a_code_block_is_no_chart() -> None:
    assert charts("````markdown\n```mermaid\nA --> B\n```\n````\n") == []


@pytest.mark.parametrize(
    "comment",
    [
        "<!--\n```mermaid\nA --> B\n```\n-->\n",
        "<!-- old:\n\n```mermaid\nA --> B\n```\n\n-->\n",
        "<!--\n```d2\na -> b\n```\nend -->\n",
        "<!--\n```\nnever closed\n-->\n",
    ],
)
def test_a_chart_that_is_commented_out_is_none(comment: str) -> None:
    assert charts(f"{comment}```d2\nx -> y\n```\n") == ["x -> y\n"]


def test_a_comment_of_one_line_hides_nothing() -> None:
    assert charts("<!-- note -->\n```d2\nx -> y\n```\n") == ["x -> y\n"]


def test_a_comment_inside_a_chart_is_text() -> None:
    assert charts("```d2\nx: <!-- y\n```\n```d2\nb -> c\n```\n") == ["x: <!-- y\n", "b -> c\n"]


def test_a_fence_that_is_never_closed_runs_to_the_end_and_says_so() -> None:
    text = "```mermaid\nA\n~~~\n"
    (fence,) = find_fences(text)
    assert (text[fence.start : fence.end], fence.closed) == ("A\n~~~\n", False)
    assert fence.almost_closed == text.index("~~~")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_mask_keeps_every_line_and_column(newline: str) -> None:
    text = newline.join(
        ["---", "name: 你好", "---", "", "  ```mermaid", "  A --> B", "  ```", "x", ""]
    )
    (fence,) = find_fences(text)
    masked = mask(text, fence.start, fence.end)
    assert masked.strip() == "A --> B"
    assert Source(masked).place(masked.index("A")) == (6, 3)
    assert Source(masked).place(masked.index("A")) == Source(text).place(text.index("A -->"))


def test_the_mask_takes_the_marks_of_a_block_quote_away_and_keeps_columns() -> None:
    text = "> ```mermaid\n> A --> B\n>   B --> C\n> ```\n"
    (fence,) = find_fences(text)
    masked = mask(text, fence.start, fence.end, quoted=fence.quoted)
    assert masked == "\n  A --> B\n    B --> C\n"


def test_very_long_texts_are_read_in_proportion_to_their_length() -> None:
    # Quadratic reading would take hours here, which no test run survives.
    count = 100_000
    assert sum(1 for _ in find_fences("```d2\nx\n```\n" * count)) == count
    assert list(find_fences("> " * count + "x\n" + "`" * count + "x`\n" + "- " * count)) == []
