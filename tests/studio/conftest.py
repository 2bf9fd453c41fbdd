"""What all tests of the studio share: a home of their own, and a work folder with skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studio.kit import BROKEN, DEMO, NOTES, write_skill

CORPUS = Path(__file__).parent.parent / "corpus"

_STRANGE = (
    "NO_COLOR",
    "FLOWSTUDIO_CONFIG",
    "FLOWSTUDIO_MODEL",
    "KIMI_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "VISUAL",
    "EDITOR",
)
"""Variables of whoever runs the tests that would change what the studio does."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own; no key and no setting of the real user is seen."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("FLOWSTUDIO_HOME", str(folder / "flowstudio"))
    for name in _STRANGE:
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder with one flow skill."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    write_skill(folder, DEMO)
    return folder


@pytest.fixture
def mixed(work: Path) -> Path:
    """A work folder with a flow skill, a broken one and a standard one."""
    write_skill(work, BROKEN, "broken")
    write_skill(work, NOTES, "notes")
    return work


@pytest.fixture
def corpus() -> Path:
    return CORPUS
