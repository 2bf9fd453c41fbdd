"""The flow of a run, as its folder keeps it at each revision and as its file holds it now."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flowstudio.flow.model import Flow, FlowEdge, FlowNode
from flowstudio.text import to_json

if TYPE_CHECKING:
    from flowstudio.run.folder import RunFolder

_BARE = "flow.json"
"""A flow that came from no file (a Ralph loop) is kept as its nodes and edges."""


@dataclass(frozen=True, slots=True)
class Source:
    """A flow as some text says it; `flow` is None where it can't be run, and `problem` says why."""

    text: str
    flow: Flow | None
    problem: str = ""


def keep_flow(folder: RunFolder, revision: int, name: str | None, text: str, flow: Flow) -> None:
    """Keep a flow in the run's folder: its file's text, or what it is where it came from no file.

    Raises:
        OSError: it cannot be written.
    """
    if name is None or not text:
        name, text = _BARE, to_json(_dump(flow), indent=2) + "\n"
    folder.keep_revision(revision, name, text)


def recorded_source(folder: RunFolder, revision: int) -> Source:
    """The flow as it was at a revision."""
    files = sorted((folder.path / "flow").glob(f"{revision}-*"))
    if not files:
        return Source("", None, f"revision {revision} of the flow is not in the run's folder")
    try:
        text = files[0].read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        return Source("", None, f"revision {revision} of the flow cannot be read: {error}")
    name = files[0].name.partition("-")[2]
    if name == _BARE:
        try:
            return Source(text, _load(json.loads(text)))
        except (ValueError, KeyError, TypeError) as error:
            return Source(text, None, f"{files[0]}: not a flow: {error}")
    path = Path(folder.header.path or name)
    return _read(path.with_name(name), text)


def current_source(folder: RunFolder) -> Source | None:
    """The flow as its file holds it now; None where the run's flow came from no file."""
    if folder.header.path is None:
        return None
    from flowstudio.skill import SkillError, load_skill

    path = Path(folder.header.path)
    if not path.is_absolute():
        path = Path(folder.header.work_dir) / path
    try:
        skill = load_skill(path)
    except SkillError as error:
        return Source("", None, str(error))
    problem = "" if skill.flow is not None else _first_error(skill.diagnostics, path)
    return Source(skill.source, skill.flow, problem)


def _read(path: Path, text: str) -> Source:
    """A flow from the text of its file; `path` tells of which kind it is."""
    from flowstudio.skill import Skill, reread

    shape = Skill("", "", "flow", "flow", "project", path, path.parent)
    skill = reread(shape, text)
    problem = "" if skill.flow is not None else _first_error(skill.diagnostics, path)
    return Source(text, skill.flow, problem)


def _first_error(diagnostics: tuple[Any, ...], path: Path) -> str:
    for found in diagnostics:
        if found.severity == "error":
            return f"{path}:{found.span.line}:{found.span.column}: {found.message}"
    return f"{path} holds no flow"


def _dump(flow: Flow) -> dict[str, Any]:
    def label(node: FlowNode) -> object:
        if isinstance(node.label, str):
            return node.label
        return [part.model_dump(exclude_none=True) for part in node.label]

    return {
        "nodes": [
            {"id": one.id, "label": label(one), "kind": one.kind} for one in flow.nodes.values()
        ],
        "edges": [{"src": one.src, "dst": one.dst, "label": one.label} for one in flow.edges],
        "begin": flow.begin_id,
        "end": flow.end_id,
    }


def _load(record: Any) -> Flow:
    nodes: dict[str, FlowNode] = {}
    for one in cast("list[dict[str, Any]]", record["nodes"]):
        nodes[one["id"]] = FlowNode(one["id"], _load_label(one["label"]), one["kind"])
    outgoing: dict[str, list[FlowEdge]] = {node: [] for node in nodes}
    for one in cast("list[dict[str, Any]]", record["edges"]):
        outgoing[one["src"]].append(FlowEdge(one["src"], one["dst"], one["label"]))
    return Flow(nodes, outgoing, record["begin"], record["end"])


def _load_label(label: Any) -> Any:
    if isinstance(label, str):
        return label
    from kosong.message import Message

    return Message(role="user", content=label).content
