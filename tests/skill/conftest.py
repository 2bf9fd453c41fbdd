"""What the tests of this room share: real files in a folder of their own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowstudio.skill import Skill, load_skill

CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.fixture
def corpus() -> Path:
    return CORPUS


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Skill]:
    """Writes a file (SKILL.md of the folder `demo`) and loads the skill in it."""

    def write_and_load(content: str | bytes, name: str = "SKILL.md") -> Skill:
        path = tmp_path / "demo" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_skill(path)

    return write_and_load


@pytest.fixture
def as_ordinary_user() -> Iterator[Path]:
    """A folder of a user to whom permissions apply (they do not to root). Yields the folder."""
    folder = Path(tempfile.mkdtemp(prefix="skills-"))
    folder.chmod(0o777)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        for inside in folder.rglob("*"):
            inside.chmod(0o700)
        shutil.rmtree(folder)
