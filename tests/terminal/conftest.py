"""What tests in a real terminal share: a home, a work folder, and the program opened in them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.studio.kit import DEMO, write_skill
from tests.terminal.kit import Terminal, run_in_terminal

SCRIPT = """\
default_task_reply: A draft.
decisions:
- {node: good, visit: 1, replies: [{text: "<choice>no</choice>"}]}
- {node: good, visit: 2, replies: [{text: "<choice>yes</choice>"}]}
- {node: good, visit: 3, replies: [{text: "<choice>yes</choice>"}]}
"""

type Open = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder with one flow skill, and the answers to it."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    write_skill(folder, DEMO)
    (folder / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.fixture
def open_terminal(tmp_path: Path, work: Path) -> Open:
    """Opens the program in a home and a work folder of the test's own."""
    home = tmp_path / "home"
    home.mkdir()

    def start(*arguments: str, size: tuple[int, int] = (120, 40), **env: str):
        return run_in_terminal(*arguments, size=size, home=home, work=work, **env)

    return start
