"""What `flowstudio PATH` shows: which skills, in which groups, and what is wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.studio.kit import BROKEN, DEMO, NOTES, open_studio, text_of, write_skill

MMD = "flowchart LR\n    BEGIN([BEGIN]) --> a[Sweep the floor] --> END([END])\n"
D2 = "BEGIN -> a\na: Sweep the floor\na -> END\n"


def copy_skills(corpus: Path, work: Path) -> None:
    """Every skill of the corpus as a project skill."""
    for folder in corpus.iterdir():
        if (folder / "SKILL.md").exists() or (folder / "skill.yaml").exists():
            shutil.copytree(folder, work / ".agents" / "skills" / folder.name)


async def test_a_work_folder_opens_on_its_first_flow(work: Path) -> None:
    async with open_studio(work) as studio:
        assert studio.main.skill is not None
        assert studio.main.skill.name == "demo"
        assert "Write a first draft" in studio.text


@pytest.mark.parametrize("what", ["folder", "file"])
async def test_a_skill_opens_by_its_folder_or_by_its_file(mixed: Path, what: str) -> None:
    file = write_skill(mixed, DEMO.replace("name: demo", "name: second"), "second")
    target = file if what == "file" else file.parent
    async with open_studio(target, cwd=mixed) as studio:
        assert studio.main.skill is not None
        assert studio.main.skill.name == "second"


@pytest.mark.parametrize(("name", "text"), [("chores.mmd", MMD), ("chores.d2", D2)])
async def test_a_bare_chart_opens_as_a_flow(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    async with open_studio(file, cwd=tmp_path) as studio:
        assert "Sweep the floor" in studio.text
        await studio.press("r")
        await studio.ended()
        assert studio.path == ["BEGIN", "a", "END"]


async def test_skills_stand_under_the_title_of_their_scope(mixed: Path, home: Path) -> None:
    own = home / ".agents" / "skills" / "own"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text(NOTES.replace("name: notes", "name: own"), encoding="utf-8")
    extra = mixed.parent / "extra"
    shutil.copytree(own, extra / "more")
    (extra / "more" / "SKILL.md").write_text(
        NOTES.replace("name: notes", "name: more"), encoding="utf-8"
    )
    async with open_studio(mixed, skills_dirs=(extra,)) as studio:
        titles = [row for row in studio.rows if row.isupper() or row[:4].isupper()]
        assert [title.split()[0] for title in titles] == ["PROJECT", "USER", "EXTRA", "BUILT-IN"]
        assert titles[0].split()[1] == "3"
        after = studio.rows.index
        assert after(titles[0]) < after(studio.row_of("demo")) < after(titles[1])
        assert after(titles[1]) < after(studio.row_of("own")) < after(titles[2])
        assert after(titles[2]) < after(studio.row_of("more")) < after(titles[3])


async def test_flow_skills_and_standard_skills_are_told_apart_by_a_sign(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        assert studio.row_of("demo").startswith("◆")
        assert studio.row_of("notes").startswith("◇")


async def test_the_filter_narrows_the_list_as_one_types(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("ctrl+k", *"note")
        assert studio.row_of("notes")
        assert not studio.row_of("demo")
        await studio.press("escape")
        assert studio.row_of("demo")


async def test_the_filter_reads_descriptions_too(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("ctrl+k", *"until")
        assert studio.row_of("demo")
        assert not studio.row_of("notes")


async def test_a_filter_that_fits_nothing_says_so(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("ctrl+k", *"zzzz")
        assert studio.rows == ["nothing matches"] or "no" in studio.rows[0]
        await studio.press("enter", "down", "up", "enter")
        await studio.press("ctrl+k", "escape")
        assert studio.row_of("demo")


async def test_the_selected_skill_shows_its_description_and_its_path(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        about = text_of(studio.skills.query_one("#about")).splitlines()
        assert about == ["Improve a text until it is good.", ".agents/skills/demo/SKILL.md"]


async def test_choosing_a_skill_in_the_list_shows_it(mixed: Path) -> None:
    write_skill(mixed, DEMO.replace("name: demo", "name: other").replace("Write a", "Read a"), "o")
    async with open_studio(mixed) as studio:
        await studio.click("other", within="#skills")
        await studio.until(lambda: "Read a first draft" in studio.text, "the other flow")


async def test_a_broken_flow_is_listed_with_a_sign_and_its_count(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        assert "▲ 1" in studio.row_of("broken")
        assert "▲" not in studio.row_of("demo")


async def test_a_broken_flow_shows_its_faults_with_line_and_column(mixed: Path) -> None:
    async with open_studio(mixed / ".agents" / "skills" / "broken", cwd=mixed) as studio:
        line = BROKEN.splitlines().index("    mend[oops --> good") + 1
        assert f"▲ SKILL.md:{line}:9" in studio.faults_shown
        assert f"SKILL.md:{line}:9" in studio.lines[0]


async def test_a_broken_flow_is_not_run(mixed: Path) -> None:
    async with open_studio(mixed / ".agents" / "skills" / "broken", cwd=mixed) as studio:
        await studio.press("r")
        assert any("no flow that can be run" in said for said in studio.toasts)
        assert studio.events == []


async def test_a_standard_skill_says_that_it_has_no_flow_and_how_to_use_it(mixed: Path) -> None:
    async with open_studio(mixed / ".agents" / "skills" / "notes", cwd=mixed) as studio:
        await studio.until(lambda: "it has no flow" in studio.text, "what it is")
        assert "/skill:notes" in studio.text


async def test_a_flow_that_is_broken_from_the_start_shows_what_could_be_read(
    corpus: Path, work: Path
) -> None:
    shutil.copytree(corpus / "broken-end-unreachable", work / ".agents" / "skills" / "lost")
    async with open_studio(work / ".agents" / "skills" / "lost", cwd=work) as studio:
        assert studio.view.drawing is not None
        assert studio.faults_shown


async def test_the_whole_corpus_opens_and_each_flow_is_drawn(corpus: Path, work: Path) -> None:
    copy_skills(corpus, work)
    async with open_studio(work) as studio:
        listing = studio.main.library.catalogue.of_scope("project")
        assert len(listing) >= 13
        await studio.press("shift+tab")
        for _ in listing[1:]:
            before = studio.main.skill
            await studio.press("down")
            await studio.until(
                lambda before=before: studio.main.skill is not before and studio.flow.is_drawn,
                "the next skill",
            )


async def test_a_skill_opens_by_its_path_though_another_has_its_name_first(work: Path) -> None:
    hidden = DEMO.replace("Write a first draft", "Write it in another way")
    first = work / ".claude" / "skills" / "demo"
    first.mkdir(parents=True)
    (first / "SKILL.md").write_text(DEMO, encoding="utf-8")
    asked = write_skill(work, hidden, "demo")
    async with open_studio(asked, cwd=work) as studio:
        assert studio.main.skill is not None
        assert studio.main.skill.path == asked
        assert "Write it in another" in studio.text


async def test_a_folder_whose_only_flow_is_broken_opens_on_it(tmp_path: Path) -> None:
    write_skill(tmp_path, BROKEN, "broken")
    async with open_studio(tmp_path) as studio:
        assert studio.main.skill is not None
        assert studio.main.skill.scope == "project"
        assert studio.faults_shown


async def test_folders_of_the_configuration_are_listed_too(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = tmp_path / "more" / "own"
    more.mkdir(parents=True)
    (more / "SKILL.md").write_text(NOTES.replace("name: notes", "name: own"), encoding="utf-8")
    settings = tmp_path / "config.yaml"
    settings.write_text(f"skills_dirs: ['{more.parent}']\n", encoding="utf-8")
    monkeypatch.setenv("FLOWSTUDIO_CONFIG", str(settings))
    async with open_studio(work) as studio:
        assert any("own" in row for row in studio.rows)
