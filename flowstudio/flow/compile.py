"""From a chart, right or wrong, to a flow that can be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow.diagnostics import CODES, FlowParseError, FlowValidationError
from flowstudio.flow.model import Flow, group_edges

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart


def compile_flow(chart: Chart) -> Flow:
    """The flow that the chart describes.

    Raises `FlowParseError` where the text has a fault and `FlowValidationError` where only the
    graph has one. Either carries every finding, warnings too.
    """
    errors = chart.errors
    if any(CODES[d.code].parse for d in errors):
        raise FlowParseError(chart.diagnostics)
    if errors:
        raise FlowValidationError(chart.diagnostics)
    begin = next(node.id for node in chart.nodes.values() if node.kind == "begin")
    end = next(node.id for node in chart.nodes.values() if node.kind == "end")
    nodes = dict(chart.nodes)
    return Flow(nodes, group_edges(nodes, chart.edges), begin, end, chart.direction)
