"""Finding the skill that a call names, by path or by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from flowstudio.cli.output import fail
from flowstudio.skill import Skill, SkillError, configured_dirs, discover, load_skill


def find_skill(wanted: str, extra_dirs: Sequence[Path]) -> Skill | None:
    """The skill of a path or a name; where there is none, says so and gives None."""
    path = Path(wanted)
    looks_like_path = os.sep in wanted or path.suffix in (".md", ".mmd", ".mermaid", ".d2", ".yaml")
    if path.exists() or looks_like_path:
        try:
            return load_skill(path)
        except SkillError as error:
            if looks_like_path or path.is_file():
                fail(str(error), "")
                return None
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(extra_dirs))
    match = catalogue.find(wanted)
    if match.skill is None:
        near = " or ".join(match.suggestions)
        hint = f"did you mean {near}?" if near else "flowstudio list shows them all"
        fail(f"there is no skill {wanted!r} here", hint)
    return match.skill
