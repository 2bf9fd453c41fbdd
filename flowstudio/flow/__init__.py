"""Charts as values: read from Mermaid and D2, checked, chosen from, written back."""

from typing import TYPE_CHECKING

from flowstudio.lazy import names_of

if TYPE_CHECKING:
    from flowstudio.flow.chart import (
        Chart as Chart,
    )
    from flowstudio.flow.choice import (
        choice_prompt as choice_prompt,
        match_choice as match_choice,
        parse_choice as parse_choice,
    )
    from flowstudio.flow.codes import (
        CODES as CODES,
    )
    from flowstudio.flow.compile import (
        compile_flow as compile_flow,
    )
    from flowstudio.flow.d2 import (
        parse_d2_flowchart as parse_d2_flowchart,
        read_d2 as read_d2,
    )
    from flowstudio.flow.diagnostics import (
        Diagnostic as Diagnostic,
        FlowError as FlowError,
        FlowParseError as FlowParseError,
        FlowValidationError as FlowValidationError,
        Severity as Severity,
    )
    from flowstudio.flow.edit import (
        replace_label as replace_label,
    )
    from flowstudio.flow.mermaid import (
        parse_mermaid_flowchart as parse_mermaid_flowchart,
        read_mermaid as read_mermaid,
    )
    from flowstudio.flow.model import (
        Flow as Flow,
        FlowEdge as FlowEdge,
        FlowNode as FlowNode,
        FlowNodeKind as FlowNodeKind,
        Span as Span,
    )
    from flowstudio.flow.placeholder import (
        placeholders as placeholders,
    )
    from flowstudio.flow.validate import (
        validate_flow as validate_flow,
    )

__getattr__ = names_of(
    __name__,
    {
        "Chart": "chart",
        "choice_prompt": "choice",
        "match_choice": "choice",
        "parse_choice": "choice",
        "compile_flow": "compile",
        "parse_d2_flowchart": "d2",
        "read_d2": "d2",
        "CODES": "codes",
        "Diagnostic": "diagnostics",
        "FlowError": "diagnostics",
        "FlowParseError": "diagnostics",
        "FlowValidationError": "diagnostics",
        "Severity": "diagnostics",
        "parse_mermaid_flowchart": "mermaid",
        "read_mermaid": "mermaid",
        "Flow": "model",
        "FlowEdge": "model",
        "FlowNode": "model",
        "FlowNodeKind": "model",
        "Span": "model",
        "placeholders": "placeholder",
        "replace_label": "edit",
        "validate_flow": "validate",
    },
)
