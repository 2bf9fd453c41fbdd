"""Writing an edited skill back to its file."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.skill import Skill, SkillError, load_skill, save

type Load = Callable[..., Skill]

TEXT = "---\nname: demo\ndescription: d\ntype: flow\n---\n```d2\nBEGIN -> a -> END\na: do it\n```\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        TEXT.replace("do it", "做").encode("gb18030"),
    ],
    ids=["plain", "CRLF", "BOM", "UTF-16", "GB18030"],
)
def test_only_what_was_edited_changes(load: Load, data: bytes) -> None:
    skill = load(data)
    saved = save(skill, skill.source.replace("name: demo", "name: new"))
    assert (saved.name, saved.type) == ("new", "flow")
    assert save(saved, skill.source).path.read_bytes() == data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_labels_place_in_the_file_is_where_a_new_one_is_written(load: Load, newline: str) -> None:
    head = "---\nname: demo\ndescription: d\ntype: flow\n---\n1. list\n\n"
    chart = "   ```mermaid\n   graph TD\n   A([BEGIN]) --> B[old] --> C([END])\n   ```\nend\n"
    skill = load((head + chart).replace("\n", newline))
    assert skill.chart is not None
    span = skill.chart.nodes["B"].label_span
    assert span is not None
    lines = skill.source.split(newline)
    line = lines[span.line - 1]
    lines[span.line - 1] = line[: span.column - 1] + "new" + line[span.end_column - 1 :]
    saved = save(skill, newline.join(lines))
    assert saved.flow is not None
    assert saved.flow.nodes["B"].text == "new"
    assert saved.source == skill.source.replace("[old]", "[new]")


def test_permissions_stay_and_nothing_is_left_behind(load: Load) -> None:
    skill = load(TEXT)
    skill.path.chmod(0o640)
    save(skill, TEXT + "more\n")
    assert skill.path.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in skill.root.iterdir()] == ["SKILL.md"]


def test_a_link_stays_a_link(load: Load, tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text(TEXT)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "link.md").symlink_to(real)
    skill = load(TEXT, "link.md")
    save(skill, TEXT + "more\n")
    assert skill.path.is_symlink()
    assert real.read_text() == TEXT + "more\n"


def test_somebody_elses_edit_is_not_overwritten(load: Load) -> None:
    skill = load(TEXT)
    skill.path.write_text("theirs")
    with pytest.raises(SkillError, match="changed on the disk"):
        save(skill, "ours")
    assert skill.path.read_text() == "theirs"


def test_a_file_that_has_gone_is_not_made_anew(load: Load) -> None:
    skill = load(TEXT)
    skill.path.unlink()
    with pytest.raises(SkillError, match="cannot be written"):
        save(skill, "ours")
    assert not skill.path.exists()


def test_a_folder_that_cannot_be_written_to_is_said(as_ordinary_user: Path) -> None:
    path = as_ordinary_user / "demo" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(TEXT)
    skill = load_skill(path)
    path.parent.chmod(0o555)
    with pytest.raises(SkillError, match="cannot be written"):
        save(skill, "ours")
    assert path.read_text() == TEXT


def test_bytes_that_could_not_be_read_are_not_overwritten(load: Load) -> None:
    data = b"---\nname: x\n---\ncaf\xe9 \xff\n"
    skill = load(data)
    with pytest.raises(SkillError, match="not read as text"):
        save(skill, "ours")
    assert skill.path.read_bytes() == data


def test_a_character_that_the_encoding_lacks_is_named(load: Load) -> None:
    skill = load(TEXT)
    with pytest.raises(SkillError, match="udc80"):
        save(skill, "lone surrogate \udc80")
    assert skill.path.read_text() == TEXT
