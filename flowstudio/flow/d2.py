"""Reading D2: a text in, a `Chart` or a `Flow` out.

Three steps, each with a file of its own: `d2_parser` finds the statements, `d2_grow` carries them
out, `d2_chart` tells nodes from containers and looks. What D2 draws is what is read, with one
intended difference: the label of a chain `a -> b -> c: x` belongs to its last hop (KLIP-10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow.compile import compile_flow
from flowstudio.flow.d2_chart import make_chart
from flowstudio.flow.d2_findings import Findings
from flowstudio.flow.d2_grow import grow
from flowstudio.flow.d2_parser import parse
from flowstudio.flow.source import Source

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow


def read_d2(text: str) -> Chart:
    """Everything that can be read of a D2 text, with all findings. Never raises.

    Positions are those of `text`, which may begin with blank lines or be indented as a whole.
    """
    findings = Findings(Source(text))
    return make_chart(grow(parse(text, findings), findings), text, findings)


def parse_d2_flowchart(text: str) -> Flow:
    """The flow that a D2 text draws.

    Raises `FlowParseError` where the text has a fault, `FlowValidationError` where only the graph
    has one; either carries every finding, and its message begins `Line N:`.
    """
    return compile_flow(read_d2(text))
