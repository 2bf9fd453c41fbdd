"""From a path to a skill: reads SKILL.md, a flat `.md`, skill.yaml or a bare chart.

Nothing in a file makes this raise: what is odd about it becomes a finding with its place, and the
skill stays in the list.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flowstudio.flow.diagnostics import Diagnostic, FlowError, finding
from flowstudio.flow.model import Span
from flowstudio.flow.source import Source
from flowstudio.skill import codes
from flowstudio.skill.chart import FoundChart, find_chart, looks_like_flow, read_chart
from flowstudio.skill.decode import FileText, read_file
from flowstudio.skill.document import Document, read_yaml
from flowstudio.skill.fields import take_fields
from flowstudio.skill.front import find_front
from flowstudio.skill.rules import take_rules
from flowstudio.skill.skill import Scope, Skill, SkillError, SkillType
from flowstudio.skill.yaml_flow import read_yaml_flow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow, Language

MANIFESTS = ("SKILL.md", "skill.yaml", "skill.yml")
"""The file that makes a folder a skill, the first that is there; `SKILL.md` in any case."""

CHARTS: Mapping[str, Language] = {".mmd": "mermaid", ".mermaid": "mermaid", ".d2": "d2"}
"""The endings of bare charts."""

_MANIFEST_NAMES = frozenset(name.lower() for name in MANIFESTS)
_TOP = Span(1, 1, 1, 1)


def load_skill(path: Path, scope: Scope = "project", *, charts: bool = True) -> Skill:
    """The skill at `path`: a skill's folder, or the file itself.

    With `charts=False` only the front matter is read (see `Skill.checked`). Raises `SkillError`
    where there is nothing at `path`, or a folder without a skill, or a file of another kind.
    """
    manifest = path
    # `Path.is_dir` raises where a folder on the way may not be entered.
    if os.path.isdir(path):  # noqa: PTH112
        found = manifest_in(path)
        if found is None:
            raise SkillError(f"{path}: no skill in this folder (no SKILL.md, no skill.yaml)")
        manifest = found
    elif not is_skill_file(path):
        what = "a skill's folder, SKILL.md, another .md, skill.yaml, .mmd, .mermaid or .d2"
        raise SkillError(f"{path}: not a skill; expected {what}")
    try:
        return read_skill(manifest, scope, charts=charts)
    except FileNotFoundError as error:
        raise SkillError(f"{path}: no such file or folder") from error


def is_skill_file(path: Path) -> bool:
    """True where the name is that of a file that can hold a skill."""
    suffix = path.suffix.lower()
    return suffix in (".md", ".markdown", *CHARTS) or path.name.lower() in _MANIFEST_NAMES


def manifest_in(folder: Path) -> Path | None:
    """The file that makes `folder` a skill; None where it is none.

    Where the folder may not be looked into, the file that would stand there: reading it says why.
    """
    for name in MANIFESTS:
        try:
            (folder / name).lstat()
        except PermissionError:
            return folder / name
        except OSError:
            continue
        return folder / name
    # Case-blind file systems never come here, so names in another case are for all to see.
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return None
    return next((folder / name for name in names if name.lower() == "skill.md"), None)


def read_skill(path: Path, scope: Scope, *, charts: bool = True) -> Skill:
    """The skill in the file `path`. Raises FileNotFoundError where the file is not there."""
    file = read_file(path)
    try:
        return _read(path, file, scope, charts=charts)
    except (
        Exception
    ) as error:  # a fault of ours in one skill must cost neither the others nor a run
        known = read_skill(path, scope, charts=False) if charts else _bare(path, file, scope)
        return _with_fault(known, error)


def reread(skill: Skill, text: str) -> Skill:
    """The skill as it would be if its file held `text`. Nothing is written."""
    file = FileText(text, skill.encoding, skill.bom)
    return _read(skill.path, file, skill.scope, charts=True)


def _read(path: Path, file: FileText, scope: Scope, *, charts: bool) -> Skill:
    suffix = path.suffix.lower()
    if suffix in CHARTS:
        draft = _read_bare_chart(path, file, CHARTS[suffix], charts=charts)
    elif suffix in (".yaml", ".yml"):
        draft = _read_yaml_skill(path, file, charts=charts)
    else:
        draft = _read_markdown(path, file, charts=charts)
    return _finish(draft, path, file, scope, charts=charts)


@dataclass(slots=True)
class _Draft:
    """What is known of a skill while its file is being read."""

    name: str
    description: str = ""
    declared_type: SkillType = "standard"
    chart: Chart | None = None
    chart_text: str = ""
    body: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    findings: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def take(self, found: FoundChart) -> None:
        """Take the chart over, with what is to be said about it."""
        self.chart, self.chart_text = found.chart, found.text
        self.findings += found.findings

    def describe(self, document: Document, source: Source, top: Span) -> Span | None:
        """Take the fields over; gives the place of the type, None where none is given."""
        fields = take_fields(document, source, top, self.name)
        self.name, self.description = fields.name, fields.description
        self.declared_type, self.meta = fields.type, document.values
        self.findings += fields.findings
        return fields.type_span

    def check_rules(self, document: Document, source: Source) -> None:
        """Say what is odd about its tools and models."""
        nodes = None if self.chart is None else self.chart.nodes
        self.findings += take_rules(document, source, nodes)[1]

    def report(self, code: str, message: str, where: Span, hint: str) -> None:
        """Add a finding."""
        self.findings.append(finding(code, message, where, hint))

    def report_no_type(self, where: Span) -> None:
        """Say that there is a flow, but that nothing says that it is one."""
        message = "the skill holds a chart with BEGIN and END, but is not a flow"
        self.report(codes.TYPE_MISSING, message, where, "add type: flow (or type: standard)")


def _finish(draft: _Draft, path: Path, file: FileText, scope: Scope, *, charts: bool) -> Skill:
    findings = [*file.findings, *draft.findings]
    findings.sort(key=lambda d: d.span)
    flow = None
    if draft.chart is not None and not any(d.severity == "error" for d in findings):
        flow = _compile(draft.chart)
    works = draft.declared_type if flow is not None or not charts else "standard"
    return Skill(
        name=draft.name,
        description=draft.description,
        type=works,
        declared_type=draft.declared_type,
        scope=scope,
        path=path,
        root=path.parent,
        chart=draft.chart,
        flow=flow,
        diagnostics=tuple(replace(d, path=str(path)) for d in findings),
        body=draft.body,
        meta=MappingProxyType(dict(draft.meta)),
        source=file.text,
        chart_text=draft.chart_text,
        encoding=file.encoding,
        bom=file.bom,
        stamp=file.stamp,
        checked=charts,
    )


def _bare(path: Path, file: FileText, scope: Scope) -> Skill:
    return _finish(_Draft(_stand_in(path), body=file.text), path, file, scope, charts=False)


def _with_fault(skill: Skill, error: Exception) -> Skill:
    said = finding(
        codes.READER_FAULT,
        f"this skill could not be read: {type(error).__name__}: {error}",
        _TOP,
        "please report it with the file: the fault is in Flow Studio",
    )
    findings = (said.at(str(skill.path)), *skill.diagnostics)
    return replace(skill, type="standard", diagnostics=findings, checked=True)


def _compile(chart: Chart) -> Flow | None:
    from flowstudio.flow.compile import compile_flow

    try:
        return compile_flow(chart)
    except FlowError:  # its findings are the chart's, which the skill carries already
        return None


# ---- the kinds of file ----------------------------------------------------------------------


def _read_markdown(path: Path, file: FileText, *, charts: bool) -> _Draft:
    draft = _Draft(_stand_in(path))
    text = file.text
    if not text.strip():
        return draft
    source = Source(text)
    front = find_front(text)
    if front is None:
        draft.body = text
        hint = "begin with a line ---, then name, description and type, then a line ---"
        draft.report(codes.FRONT_MATTER_MISSING, "there is no front matter", _TOP, hint)
        if charts and looks_like_flow(text, 0):
            draft.report_no_type(_TOP)
        return draft
    opening = source.span(front.open, front.open + 3)
    if front.open:
        hint = "remove the lines above it"
        draft.report(codes.FRONT_MATTER_LATE, "blank lines stand before ---", opening, hint)
    if not front.closed:
        hint = "write a line --- below its last field"
        message = "the front matter is never closed"
        draft.report(codes.FRONT_MATTER_UNCLOSED, message, opening, hint)
    document = read_yaml(text[front.start : front.end], front.start, source)
    declared_at = draft.describe(document, source, opening)
    draft.body = text[front.body :]
    if not charts:
        return draft
    if other := _other_manifest(path):
        message = f"{other} in the same folder is not read"
        draft.report(codes.MANIFEST_TWICE, message, opening, "remove one of them")
    if draft.declared_type == "flow":
        draft.take(find_chart(text, front.body, source, declared_at or opening))
    elif declared_at is None and looks_like_flow(text, front.body):
        draft.report_no_type(opening)
    draft.check_rules(document, source)
    return draft


def _read_yaml_skill(path: Path, file: FileText, *, charts: bool) -> _Draft:
    draft = _Draft(_stand_in(path))
    text = file.text
    if not text.strip():
        return draft
    source = Source(text)
    document = read_yaml(text, 0, source)
    declared_at = draft.describe(document, source, _TOP)
    # Without places the YAML could not be read, and that is said already.
    if not charts or not document.places:
        return draft
    content = document.places.get(("flow", "content"))
    if draft.declared_type == "flow":
        draft.take(read_yaml_flow(document, source, declared_at or _TOP))
    elif declared_at is None and content is not None:
        draft.report_no_type(source.span(content.start, content.start))
    draft.check_rules(document, source)
    return draft


def _read_bare_chart(path: Path, file: FileText, language: Language, *, charts: bool) -> _Draft:
    draft = _Draft(path.stem, declared_type="flow")
    text = file.text
    first = text.lstrip().partition("\n")[0].strip()
    sign = "%%" if language == "mermaid" else "#"
    # The comment on top is where the authors of bare charts say what they are for.
    if first.startswith(sign) and not first.startswith("%%{"):
        draft.description = first.removeprefix(sign).strip()
    if charts and text.strip():
        chart = read_chart(language, text)
        draft.take(FoundChart(chart, text, chart.diagnostics))
        draft.description = draft.description or chart.title or ""
    return draft


def _stand_in(path: Path) -> str:
    """The name of a skill that gives itself none."""
    if path.name.lower() in _MANIFEST_NAMES:
        # `load_skill(Path("SKILL.md"))`: the folder's name is known only to the whole path.
        return path.absolute().parent.name or path.stem
    return path.stem


def _other_manifest(path: Path) -> str | None:
    if path.name.lower() != "skill.md":
        return None
    return next((name for name in MANIFESTS[1:] if os.path.lexists(path.with_name(name))), None)
