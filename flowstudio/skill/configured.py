"""The folders of skills that the user named: on the command line, and in the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flowstudio import paths


def configured_dirs(given: Sequence[Path]) -> tuple[Path, ...]:
    """`given` (from `--skills-dir`) and then the configuration's `skills_dirs`, each once.

    The settings are read only where there is a file of them: most calls need none, and checking
    them costs more than listing the skills.
    """
    if not paths.config_file().exists():
        return tuple(given)
    from flowstudio.config import load_config

    return tuple(dict.fromkeys([*given, *load_config().config.skills_dirs]))
