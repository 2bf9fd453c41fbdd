"""Makes a new flow skill from a template, and never writes over anything."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.skill.fence import find_fences
from flowstudio.skill.skill import SkillError

if TYPE_CHECKING:
    from flowstudio.flow.model import Language

_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
MOST = 64
"""Characters of a skill's name."""


@dataclass(frozen=True, slots=True)
class Template:
    """Something to begin with."""

    name: str
    about: str
    """What it is for, in a sentence."""


TEMPLATES: Mapping[str, Template] = {
    one.name: one
    for one in (
        Template("linear", "one step after the other"),
        Template("review", "do, review, mend, until nothing is left to mend"),
        Template("decision", "look first, then one of several ways"),
        Template("research", "search and weigh, until the question is answered"),
        Template("chinese", "撰写、审阅、修改的循环 (a review loop in Chinese)"),
    )
}
"""The templates by name; the first is the default."""
DEFAULT = "linear"


def problem_of(name: str) -> str:
    """What is wrong with a skill's name, as a sentence; empty where nothing is."""
    if not name:
        return "a skill needs a name"
    if len(name) > MOST:
        return f"the name has {len(name)} characters; at most {MOST} are allowed"
    if name != name.lower() or not _NAME.fullmatch(name):
        return "a name is made of lower-case letters, digits and single hyphens: code-review"
    return ""


def text_from(
    name: str, template: str = DEFAULT, language: Language = "mermaid", description: str = ""
) -> str:
    """The SKILL.md of a new flow skill.

    Raises `SkillError`, fit to show, where the name is none or there is no such template.
    """
    if problem := problem_of(name):
        raise SkillError(f"“{name}”: {problem}")
    if template not in TEMPLATES:
        raise SkillError(f"there is no template “{template}”; there are {', '.join(TEMPLATES)}")
    text = files("flowstudio.skill.templates").joinpath(f"{template}.md").read_text("utf-8")
    about = " ".join(description.split()) or f"{name}: say here when this flow is of use."
    text = text.replace("{name}", name).replace("{description}", _as_yaml(about))
    return _in_d2(text) if language == "d2" else text


def start_skill(
    folder: Path,
    name: str,
    template: str = DEFAULT,
    language: Language = "mermaid",
    description: str = "",
) -> Path:
    """Write `folder/NAME/SKILL.md`; gives its path.

    Raises `SkillError`, fit to show, where the name is none, where anything is there already, or
    where the disk refuses. Nothing that exists is changed.
    """
    return place_skill(folder, name, text_from(name, template, language, description))


def place_skill(folder: Path, name: str, text: str) -> Path:
    """Write `text` as `folder/NAME/SKILL.md`; gives its path.

    Raises `SkillError`, fit to show, where the name is none, where anything is there already, or
    where the disk refuses. Nothing that exists is changed.
    """
    if problem := problem_of(name):
        raise SkillError(f"“{name}”: {problem}")
    home = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        home.mkdir()
        path = home / "SKILL.md"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
    except FileExistsError as error:
        raise SkillError(f"{home}: is there already; nothing was written") from error
    except OSError as error:
        raise SkillError(f"{home}: cannot be written: {error.strerror or error}") from error
    return path


def usual_folder(work_dir: Path) -> Path:
    """Where a new skill of this work folder goes: the project's first root that exists."""
    from flowstudio.skill.roots import find_roots

    own = [root.path for root in find_roots(work_dir) if root.scope == "project"]
    existing = next((path for path in own if path.is_dir()), None)
    return existing or work_dir / ".agents" / "skills"


def _as_yaml(text: str) -> str:
    """A line as a YAML scalar."""
    plain = re.fullmatch(r"[^\W_][^:#{}\[\]&*!|>'\"%@`\n]*", text)
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _in_d2(text: str) -> str:
    """The same flow, its chart in D2."""
    from flowstudio.flow.convert import write_d2
    from flowstudio.flow.mermaid import read_mermaid

    fence = next(find_fences(text))
    chart = write_d2(read_mermaid(text[fence.start : fence.end]))
    opening = text[fence.open : fence.start].replace("mermaid", "d2")
    return text[: fence.open] + opening + chart + text[fence.end :]
