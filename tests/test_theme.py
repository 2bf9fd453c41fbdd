"""Themes as files: found in their folders, completed, and refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.theme import DARK, DEFAULT, ROLES, find_themes, read_colours


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_bundled_themes_are_found_and_all_can_be_read(studio_home: Path) -> None:
    found = find_themes()
    assert found.problems == ()
    assert len(found.themes) >= 8
    assert all(tuple(theme.roles) == ROLES for theme in found.themes)


def test_the_built_in_default_is_the_bundled_file(studio_home: Path) -> None:
    default = find_themes().named(DEFAULT)
    assert default is not None
    assert default.roles == DARK


def test_a_theme_of_the_users_own_replaces_one_of_the_same_name(studio_home: Path) -> None:
    folder = studio_home / "config" / "themes"
    write(folder, "own.yaml", "name: paper\ndark: true\ncolours: {text: '#000001'}\n")
    paper = find_themes().named("paper")
    assert paper is not None
    assert (paper.roles["text"], paper.dark) == ("#000001", True)
    assert paper.roles["now"] == DARK["now"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a mapping"),
        ("- a\n", "a mapping"),
        ("name: x\n", "colours"),
        ("name: [x]\ncolours: {}\n", "name"),
        ("colours: {now: red}\n", "now: 'red'"),
        ("colours: {noww: '#000000'}\n", "'noww'"),
        ("colours: {1: '#000000'}\n", "'1'"),
        ("colours: {now: '#000000'\n", "line"),
        ("[" * 3000, "x.yaml"),
        ("\x00", "x.yaml"),
    ],
)
def test_a_file_that_is_no_theme_costs_only_itself_and_is_named(
    tmp_path: Path, text: str, said: str
) -> None:
    write(tmp_path, "x.yaml", text)
    write(tmp_path, "y.yaml", "colours: {}\n")
    found = find_themes([tmp_path])
    assert [theme.name for theme in found.themes] == ["y"]
    (problem,) = found.problems
    assert problem.startswith("x.yaml: ")
    assert said in problem


def test_bytes_that_are_no_text_are_no_theme(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ValueError, match="codec"):
        read_colours(file)
