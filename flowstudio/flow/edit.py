"""Writes a changed label back into the text it was read from, and touches nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow.edit_d2 import replace_label_d2
from flowstudio.flow.edit_mermaid import replace_label_mermaid

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart


def replace_label(text: str, chart: Chart, node_id: str, new_label: str) -> str:
    """`text` with the node's label exchanged, so that reading it again gives `new_label`.

    `chart` is what reading this very text gave. Blanks around the label do not count; everything
    outside the label stays as it is, line ends too. Raises `KeyError` where the chart has no such
    node and `ValueError` where the new label is blank, as a node without a prompt says nothing.
    """
    if node_id not in chart.nodes:
        raise KeyError(node_id)
    if not new_label.strip():
        raise ValueError("a node's label cannot be blank")
    if chart.language == "d2":
        return replace_label_d2(text, chart, node_id, new_label)
    return replace_label_mermaid(text, chart, node_id, new_label)
