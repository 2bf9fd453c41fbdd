"""Charts as values: read from Mermaid and D2, checked, chosen from, written back."""

from flowstudio.flow.chart import Chart
from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice
from flowstudio.flow.compile import compile_flow
from flowstudio.flow.d2 import parse_d2_flowchart, read_d2
from flowstudio.flow.diagnostics import (
    CODES,
    Diagnostic,
    FlowError,
    FlowParseError,
    FlowValidationError,
    Severity,
)
from flowstudio.flow.mermaid import parse_mermaid_flowchart, read_mermaid
from flowstudio.flow.model import Flow, FlowEdge, FlowNode, FlowNodeKind, Span
from flowstudio.flow.validate import validate_flow

__all__ = [
    "CODES",
    "Chart",
    "Diagnostic",
    "Flow",
    "FlowEdge",
    "FlowError",
    "FlowNode",
    "FlowNodeKind",
    "FlowParseError",
    "FlowValidationError",
    "Severity",
    "Span",
    "choice_prompt",
    "compile_flow",
    "match_choice",
    "parse_choice",
    "parse_d2_flowchart",
    "parse_mermaid_flowchart",
    "read_d2",
    "read_mermaid",
    "validate_flow",
]
