"""What `flowstudio [PATH]` opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.skill import SkillError, Target, discover, resolve

CHART = "BEGIN -> work -> END\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A work folder with a skill in its roots, and one outside of them."""
    for folder in (".claude/skills/inside", "drafts/outside"):
        (tmp_path / folder).mkdir(parents=True)
        text = f"---\nname: {Path(folder).name}\ndescription: d\n---\n"
        (tmp_path / folder / "SKILL.md").write_text(text)
    (tmp_path / "drafts/flat.md").write_text("---\nname: flat\ndescription: d\n---\n")
    (tmp_path / "drafts/chart.d2").write_text(CHART)
    (tmp_path / "drafts/notes.txt").write_text("text")
    return tmp_path


def test_nothing_opens_the_current_folder(here: Path) -> None:
    assert resolve(None, cwd=here) == Target(here)


def test_a_folder_is_a_place_to_work(here: Path) -> None:
    assert resolve(Path(".claude"), cwd=here) == Target(here / ".claude")


def test_a_folder_of_skills_lists_them(here: Path) -> None:
    target = resolve(Path("drafts"), cwd=here)
    assert target == Target(here / "drafts", extra_dirs=(here / "drafts",))
    found = discover(
        target.work_dir, extra_dirs=target.extra_dirs, include_builtin=False, home=here / "home"
    )
    assert [skill.name for skill in found.skills] == ["flat", "outside"]


@pytest.mark.parametrize("path", [".claude/skills/inside", ".claude/skills/inside/SKILL.md"])
def test_a_skill_in_the_roots_is_the_one_that_is_found_there(here: Path, path: str) -> None:
    target = resolve(Path(path), cwd=here, home=here / "home")
    assert target == Target(here, here / ".claude/skills/inside/SKILL.md")
    assert target.files == ()


def test_a_link_to_a_skill_in_the_roots_is_that_skill(here: Path) -> None:
    (here / "link").symlink_to(".claude/skills/inside")
    target = resolve(Path("link"), cwd=here, home=here / "home")
    assert target == Target(here, here / ".claude/skills/inside/SKILL.md")


@pytest.mark.parametrize(
    ("path", "file", "name"),
    [
        ("drafts/outside", "drafts/outside/SKILL.md", "outside"),
        ("drafts/outside/SKILL.md", "drafts/outside/SKILL.md", "outside"),
        ("drafts/flat.md", "drafts/flat.md", "flat"),
        ("drafts/chart.d2", "drafts/chart.d2", "chart"),
    ],
)
def test_a_skill_outside_is_opened_as_an_extra_one(
    here: Path, path: str, file: str, name: str
) -> None:
    target = resolve(Path(path), cwd=here, home=here / "home")
    assert target == Target(here, here / file, is_outside=True)
    found = discover(here, files=target.files, include_builtin=False, home=here / "home")
    skill = found.at(here / file)
    assert skill is not None
    assert (skill.name, skill.scope) == (name, "extra")


def test_an_absolute_path_needs_no_current_folder(here: Path, tmp_path: Path) -> None:
    target = resolve(here / "drafts/chart.d2", cwd=tmp_path, home=here / "home")
    assert target.skill == here / "drafts/chart.d2"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere", "no such file"),
        ("drafts/chrt.d2", "did you mean chart.d2"),
        ("drafts/notes.txt", "not a skill"),
        ("no/such/folder", "no such file"),
    ],
)
def test_anything_else_is_refused_in_words(here: Path, path: str, words: str) -> None:
    with pytest.raises(SkillError, match=words):
        resolve(Path(path), cwd=here, home=here / "home")
