"""The Mermaid reader on any text at all: it never raises, and never takes more than linear time."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from flowstudio.flow.mermaid import read_mermaid

WORDS = r"""
A B end graph subgraph style class click x o -- --> --- -.-> -. == ==> ~~~ <--> <-- -> | || & ; :
::: [ ] ( ) { } [[ ]] [( )] (( )) {{ }} [/ /] > " ' ` "` `" @{ } e1@ label: shape: %% %%{ }%% #
#quot; &lt; <br> <a="b"> \n 开始 （ ） 。 💡 flowchart TD LR BEGIN END
"""
PIECES = WORDS.split()
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
texts = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from([*PIECES, " ", " ", "\n", "\n", "\r\n", "\r", "\t", "\v", "\u2028"])
    ).map("".join),
)


def check_any(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for whole in (text, "flowchart TD\n" + text):
        above = len(whole.split("\n")) - len(text.split("\n"))
        chart = read_mermaid(whole)
        for edge in chart.edges:
            assert edge.src in chart.nodes
            assert edge.dst in chart.nodes
        assert list(chart.diagnostics) == sorted(chart.diagnostics, key=lambda d: d.span)
        for finding in chart.diagnostics:
            span = finding.span
            assert (span.line, span.column) <= (span.end_line, span.end_column)
            assert 1 <= span.line <= span.end_line <= len(lines) + above
            assert finding.message
            assert not CONTROL.search(str(finding) + finding.hint)
        assert chart == read_mermaid(whole)


@settings(max_examples=1000, deadline=None)
@given(texts)
@example("")
@example("%%")
@example("---")
@example('A["')
@example("A@{")
@example("\ufeff")
@example("&")
@example("A -- ")
def test_any_text_is_read_without_raising(text: str) -> None:
    check_any(text)


@pytest.mark.long
@settings(max_examples=100_000, deadline=None)
@given(texts)
def test_very_many_texts_are_read_without_raising(text: str) -> None:
    check_any(text)


HUGE = {
    "brackets": "'A' + '[' * n",
    "brackets on every line": r"'A[\n' * (n // 3)",
    "brackets of two kinds": r"'A{(x\n' * (n // 6)",
    "quotes that are never closed": r"""'A["x\n' * (n // 5)""",
    "quotes on one line": r"""'A["x ' * (n // 5)""",
    "Markdown strings that are never closed": r"""'A["`x\n' * (n // 6)""",
    "Markdown strings closed at the end": r"""'A["`x\n' * (n // 6) + '`"]'""",
    "dashes": "'A' + '-' * n",
    "dots": "'A -' + '.' * n",
    "half links": r"'A -- x\n' * (n // 7)",
    "half thick links": r"'A == x\n' * (n // 7) + '==>'",
    "half dotted links on one line": "'A -. x ' * (n // 7)",
    "pipes": r"'A -->|x\n' * (n // 8)",
    "pipes on one line": "'A -->|' * (n // 6)",
    "deep subgraphs": r"'subgraph a\n' * (n // 15) + 'end\n' * (n // 15)",
    "directives that are never closed": r"'%%{\n' * (n // 4)",
    "directives on one line": "'%%{}%% ' * (n // 7)",
    "groups": "'A & ' * (n // 4)",
    "properties that are never closed": r"'A@{\n' * (n // 4)",
    "properties with quoted braces": r"""'A@{ "}"\n' * (n // 8)""",
    "a chain without blanks": "'-->'.join(f'n{i}' for i in range(n // 8))",
    "tags": """'<a ' * (n // 4) + '="'""",
    "tags with attributes": """'A["' + '<a href="x" ' * (n // 12) + '>"]'""",
    "front matter that is never closed": r"'---\n' + 'title' * (n // 5)",
    "edge ids": "'A e@' * (n // 4)",
    "a comment behind every statement": r"'A --> B %% x\n' * (n // 13)",
    "blanks in a break": """'A["<br' + ' ' * n + '"]'""",
    "ids that are not ASCII": "'开' * n",
    "separators": "';' * n",
    "lines with a vertical tab": r"'A-->B\n\v' * (n // 7)",
}

PROGRAM = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from flowstudio.flow.mermaid import read_mermaid
n = {size}
text = {text}
read_mermaid("flowchart TD\\n" + text)
read_mermaid(text)
"""


def read_huge(name: str, size: int, seconds: int) -> None:
    """Read a huge text in a process of its own, which the system ends where it takes for ever.

    The limit is some twenty times what linear work needs; quadratic work would need far more.
    """
    program = PROGRAM.format(size=size, text=HUGE[name], seconds=seconds)
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, check=False)
    assert done.returncode == 0, "the reader was ended: it takes more than linear time"


@pytest.mark.parametrize("name", HUGE)
def test_a_long_text_takes_linear_time(name: str) -> None:
    read_huge(name, 300_000, 20)


@pytest.mark.long
@pytest.mark.parametrize("name", HUGE)
def test_a_huge_text_takes_linear_time(name: str) -> None:
    read_huge(name, 3_000_000, 200)


def test_ten_thousand_edges_are_read() -> None:
    text = "\n".join(f"n{i} -->|go {i}| n{i + 1}[step {i}]" for i in range(10_000))
    chart = read_mermaid(f"flowchart TD\n{text}")
    assert (len(chart.nodes), len(chart.edges)) == (10_001, 10_000)
