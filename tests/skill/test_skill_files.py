"""What happens to files that are not plain UTF-8 text: a finding, never an exception."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.skill import Skill, SkillError, load_skill
from flowstudio.skill.decode import LARGEST, decode

type Load = Callable[..., Skill]

TEXT = """---
name: 复查
description: 看一遍。
type: flow
---
# 复查

```mermaid
flowchart TD
  A([BEGIN]) --> B["看改动"] --> Z([END])
```
"""


def found(skill: Skill) -> list[str]:
    return [d.code for d in skill.diagnostics]


def test_plain_text_has_no_findings(load: Load) -> None:
    skill = load(TEXT)
    assert (skill.name, skill.type, skill.encoding, skill.diagnostics) == (
        "复查",
        "flow",
        "utf-8",
        (),
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read_right_and_kept(load: Load, newline: str) -> None:
    skill = load(TEXT.replace("\n", newline))
    assert (skill.name, skill.diagnostics) == ("复查", ())
    assert skill.source == TEXT.replace("\n", newline)
    assert skill.flow is not None
    assert skill.flow.nodes["B"].label_span is not None
    assert skill.flow.nodes["B"].label_span.line == 10


def test_a_byte_order_mark_is_no_part_of_the_text_and_is_written_back(load: Load) -> None:
    data = codecs.BOM_UTF8 + TEXT.encode()
    skill = load(data)
    assert (skill.name, skill.type, skill.diagnostics) == ("复查", "flow", ())
    assert skill.encode(skill.source) == data


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("gb18030", b""),
    ],
)
def test_another_encoding_is_read_with_a_warning_and_written_back(
    load: Load, encoding: str, bom: bytes
) -> None:
    data = bom + TEXT.encode(encoding)
    skill = load(data)
    assert (skill.name, skill.type) == ("复查", "flow")
    assert found(skill) == ["encoding-guessed"]
    assert skill.encode(skill.source) == data


def test_bytes_of_no_encoding_are_an_error_at_their_place(load: Load) -> None:
    skill = load(TEXT.encode().replace("看一遍".encode(), b"caf\xe9 \xff"))
    (error,) = skill.errors
    assert (error.code, error.span.line, error.span.column) == ("encoding-unknown", 3, 17)
    assert skill.name == "复查"
    assert (skill.declared_type, skill.type, skill.flow) == ("flow", "standard", None)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "file-empty"),
        (b" \n\n", "file-empty"),
        (codecs.BOM_UTF8, "file-empty"),
        (b"---\nname: x\0\n---\n", "file-binary"),
        (b"PK\x03\x04\x00\x00", "file-binary"),
        (codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le"), "file-binary"),
        (codecs.BOM_UTF16_LE + b"a\x00b", "encoding-unknown"),
    ],
)
def test_what_is_no_text_stays_in_the_list_under_its_folders_name(
    load: Load, data: bytes, code: str
) -> None:
    skill = load(data)
    assert code in found(skill)
    assert (skill.name, skill.type) == ("demo", "standard")
    assert all(d.path == str(skill.path) and d.hint for d in skill.diagnostics)


def test_a_huge_file_is_refused_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "SKILL.md"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    skill = load_skill(path)
    assert found(skill) == ["file-huge"]
    assert skill.source == ""


def test_the_largest_file_allowed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.md"
    head = b"---\nname: big\ndescription: d\n---\n"
    path.write_bytes(head + b"x" * (LARGEST - len(head)))
    assert load_skill(path).diagnostics == ()


def test_a_file_that_may_not_be_read_says_so(as_ordinary_user: Path) -> None:
    path = as_ordinary_user / "demo.md"
    path.write_text(TEXT)
    path.chmod(0)
    skill = load_skill(path)
    assert found(skill) == ["file-forbidden"]
    assert skill.name == "demo"


def test_a_folder_that_may_not_be_entered_says_so(as_ordinary_user: Path) -> None:
    folder = as_ordinary_user / "demo"
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT)
    folder.chmod(0)
    assert found(load_skill(folder)) == ["file-forbidden"]


def test_a_link_that_leads_to_itself_says_so(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    path.symlink_to(path)
    assert found(load_skill(path)) == ["link-loop"]


def test_a_link_that_leads_nowhere_says_where(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    path.symlink_to("gone.md")
    (error,) = load_skill(path).errors
    assert error.code == "link-broken"
    assert "gone.md" in error.message


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    os.mkfifo(path)
    assert found(load_skill(path)) == ["file-unreadable"]


@pytest.mark.parametrize("name", ["nothing.md", "nothing", "notes.txt", "empty"])
def test_a_path_without_a_skill_is_the_callers_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SkillError, match=name):
        load_skill(tmp_path / name)


def test_the_place_of_a_bad_byte_counts_characters() -> None:
    text = decode("你好\n世界".encode() + b"\xff \xff")
    assert (text.findings[0].span.line, text.findings[0].span.column) == (2, 3)
