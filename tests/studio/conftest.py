"""What all tests of the studio share: a home of their own, and a work folder with skills."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import kosong.tooling
import pytest

from flowstudio.studio.keymap import Keymap, use_keymap
from tests.studio.kit import BROKEN, DEMO, NOTES, write_skill

REPOSITORY = Path(__file__).parent.parent.parent
CORPUS = REPOSITORY / "tests" / "corpus"

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
    use_keymap(Keymap())  # one that a test before had configured names its keys no longer
    return folder


@pytest.fixture(autouse=True)
def few_bundled_skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundled library of one flow and one standard skill: reading all of them in each test would
    cost more than the tests. That they can all be read, tests of their own say.
    """
    library = tmp_path / "bundled"
    for name in ("tour", "csv"):
        shutil.copytree(REPOSITORY / "skills" / name, library / name)
    places = {"skills": library, "themes": REPOSITORY / "themes"}
    monkeypatch.setattr("flowstudio.paths.bundled", places.__getitem__)
    return library


@pytest.fixture(autouse=True, scope="session")
def tools_are_checked_once() -> Iterator[None]:
    """Each session has kosong check the schemas of its tools against JSON Schema's own, which takes
    a quarter of a second; the same schema is checked once here."""
    known: set[str] = set()
    check = jsonschema.validate

    def check_once(instance: object, *more: object, **options: object) -> None:
        key = repr(instance)
        if key not in known:
            check(instance, *more, **options)  # type: ignore[arg-type]
            known.add(key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kosong.tooling.jsonschema, "validate", check_once)
        yield


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


@pytest.fixture(autouse=True)
def no_model_of_meanings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skills are found by words: whether a model is installed here must change no test."""

    def choose(name: str) -> None:
        return None

    monkeypatch.setattr("flowstudio.mindflow.opening.choose_embedder", choose)
