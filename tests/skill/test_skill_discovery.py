"""Where skills are found, who has a name, and that a bad one costs no other."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from flowstudio.skill import Catalogue, discover, find_project, refresh
from flowstudio.skill.roots import PROJECT_ROOTS, USER_ROOTS, find_roots

FLOW = "type: flow\n---\n```d2\nBEGIN -> work -> END\n```\n"


def put(folder: Path, name: str, text: str = "---\n", description: str = "d") -> Path:
    """A skill `name` in a folder of that name below `folder`; gives its file."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n{text}", encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository below a home folder."""
    folder = tmp_path / "home" / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def find(project: Path, *extra: Path, previous: Catalogue | None = None) -> Catalogue:
    return discover(
        project,
        extra_dirs=extra,
        include_builtin=False,
        home=project.parent,
        previous=previous,
    )


def names(catalogue: Catalogue) -> list[str]:
    return [skill.name for skill in catalogue.skills]


# ---- places ---------------------------------------------------------------------------------


@pytest.mark.parametrize("root", PROJECT_ROOTS)
def test_skills_lie_at_the_repositorys_root(project: Path, root: str) -> None:
    put(project / root, "one")
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    found = discover(inside, include_builtin=False, home=project.parent)
    assert [(s.name, s.scope) for s in found.skills] == [("one", "project")]


@pytest.mark.parametrize("root", USER_ROOTS)
def test_skills_lie_in_the_home_folder(project: Path, root: str) -> None:
    put(project.parent / root, "one")
    assert [(s.name, s.scope) for s in find(project).skills] == [("one", "user")]


def test_skills_lie_in_extra_folders_named_in_any_way(project: Path) -> None:
    put(project / "mine", "one")
    put(project.parent / "yours", "two")
    found = find(project, Path("mine"), Path("~/yours"))
    assert [(s.name, s.scope) for s in found.skills] == [("one", "extra"), ("two", "extra")]


def test_an_extra_folder_may_be_a_single_skill(project: Path) -> None:
    path = put(project / "mine", "one")
    (path.parent / "references").mkdir()
    assert names(find(project, path.parent)) == ["one"]


def test_the_bundled_skills_come_last(project: Path) -> None:
    put(project / PROJECT_ROOTS[0], "zzz")
    found = discover(project, home=project.parent)
    assert found.skills[0].name == "zzz"
    assert {skill.scope for skill in found.skills[1:]} == {"builtin"}


def test_without_a_repository_the_work_folder_is_the_project(tmp_path: Path) -> None:
    assert find_project(tmp_path / "a", home=tmp_path) == tmp_path / "a"


def test_a_work_tree_whose_git_is_a_file_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert find_project(tmp_path / "a" / "b", home=tmp_path / "home") == tmp_path


def test_a_home_folder_under_version_control_is_not_everybodys_project(project: Path) -> None:
    (project.parent / ".git").mkdir()
    other = project.parent / "other"
    assert find_project(other, home=project.parent) == other


def test_skills_of_a_project_that_is_the_home_folder_are_the_users(project: Path) -> None:
    put(project.parent / ".claude/skills", "one")
    found = discover(project.parent, include_builtin=False, home=project.parent)
    assert [(s.name, s.scope) for s in found.skills] == [("one", "user")]


def test_a_root_that_is_a_link_to_another_counts_once(project: Path) -> None:
    put(project / ".claude/skills", "one")
    (project / ".agents").mkdir()
    (project / ".agents/skills").symlink_to("../.claude/skills")
    found = find(project)
    assert (names(found), found.shadowed) == (["one"], ())


def test_all_kinds_of_files_are_found(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "folder")
    (root / "flat.md").write_text("---\nname: flat\ndescription: d\n---\n")
    (root / "yaml").mkdir()
    (root / "yaml" / "skill.yaml").write_text("name: yaml\ndescription: d\n")
    (root / "lower").mkdir()
    (root / "lower" / "skill.md").write_text("---\nname: lower\ndescription: d\n---\n")
    assert names(find(project)) == ["flat", "folder", "lower", "yaml"]


def test_what_is_no_skill_is_left_alone(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "one")
    put(root / "category", "deeper")
    put(root, ".hidden")
    (root / "empty").mkdir()
    for name in ("#one.md#", "one.md~", ".#one.md", ".one.md.swp", "4913", "data.csv"):
        (root / name).write_text("---\nname: temporary\n---\n")
    (root / "README.md").write_text("# Our skills\n")
    found = find(project)
    assert names(found) == ["one"]
    assert found.skipped == (root / "README.md",)
    assert found.problems == ()


# ---- names ----------------------------------------------------------------------------------


def test_the_first_root_has_the_name_and_case_does_not_count(project: Path) -> None:
    first = put(project / ".kimi/skills", "Review")
    put(project / ".claude/skills", "REVIEW")
    put(project.parent / ".agents/skills", "review")
    found = find(project)
    assert [skill.path for skill in found.skills] == [first]
    assert [skill.name for skill in found.shadowed] == ["REVIEW", "review"]
    assert found.problems == ()


def test_two_skills_of_one_name_in_one_folder_are_an_accident(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "one")
    put(root, "two").write_text("---\nname: one\ndescription: d\n---\n")
    (problem,) = find(project).problems
    assert problem.code == "name-taken"
    assert problem.path == str(root / "two" / "SKILL.md")


def test_the_accident_is_over_when_the_name_is_free_again(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "one")
    put(root, "two").write_text("---\nname: one\ndescription: d\n---\n")
    before = find(project)
    shutil.rmtree(root / "one")
    assert find(project, previous=before).problems == ()


@pytest.mark.parametrize("name", ["Zwei Wörter", "v1.2.x", "代码评审", "ß", "a/b", "-x"])
def test_any_name_can_be_called_in_any_case(project: Path, name: str) -> None:
    path = put(project / PROJECT_ROOTS[0], "folder")
    path.write_text(f'---\nname: "{name}"\ndescription: d\n---\n', encoding="utf-8")
    found = find(project)
    for wanted in (name, name.upper(), name.lower(), f" {name} "):
        skill = found.get(wanted)
        assert skill is not None
        assert skill.name == name


@pytest.mark.parametrize(
    ("wanted", "suggested"),
    [
        ("code-reviw", "code-review"),
        ("code", "code-review"),
        ("CODE_REVIEW", "code-review"),
        ("folder", "named"),
        ("nothing like it", None),
        ("", None),
    ],
)
def test_a_name_that_nobody_has_gets_suggestions(
    project: Path, wanted: str, suggested: str | None
) -> None:
    put(project / PROJECT_ROOTS[0], "code-review")
    put(project / PROJECT_ROOTS[0], "folder").write_text("---\nname: named\ndescription: d\n---\n")
    match = find(project).find(wanted)
    assert match.skill is None
    assert (match.suggestions[0] if match.suggestions else None) == suggested


def test_skills_are_listed_by_scope_and_then_by_name(project: Path) -> None:
    put(project.parent / ".agents/skills", "a")
    put(project / ".claude/skills", "c")
    put(project / ".kimi/skills", "d")
    put(project / ".claude/skills", "B")
    found = find(project)
    assert names(found) == ["B", "c", "d", "a"]
    assert [skill.name for skill in found.of_scope("user")] == ["a"]


def test_a_file_that_was_opened_has_the_first_right_to_its_name(project: Path) -> None:
    put(project / PROJECT_ROOTS[0], "one")
    opened = put(project / "elsewhere", "one")
    found = discover(project, files=[opened], include_builtin=False, home=project.parent)
    assert [(skill.path, skill.scope) for skill in found.skills] == [(opened, "extra")]
    assert found.at(opened) is found.get("one")


# ---- what goes wrong ------------------------------------------------------------------------


def test_a_bad_skill_costs_no_other(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "good", FLOW)
    put(root, "yaml").write_text("---\nname: x: y\n---\n")
    put(root, "bytes").write_bytes(b"\xff\xff\xff")
    put(root, "binary").write_bytes(b"\0")
    put(root, "empty").write_text("")
    put(root, "chart", FLOW.replace("-> END", ""))
    (root / "loop").symlink_to("loop")
    (root / "gone").symlink_to("nowhere")
    (root / "up").symlink_to("..")
    (root / "me.md").symlink_to("me.md")
    found = find(project)
    assert len(found.skills) == 9
    assert [skill.name for skill in found.skills if not skill.errors] == ["good"]
    assert {d.path for d in found.problems} == {
        str(skill.path) for skill in found.skills if skill.name != "good"
    }


def test_a_loop_of_folders_is_no_loop_for_us(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    path = put(root, "one")
    (path.parent / "inside").symlink_to(path.parent)
    (root / "again").symlink_to("one")
    assert (names(find(project)), find(project).shadowed) == (["one"], ())


def test_an_extra_folder_that_is_missing_is_said(project: Path) -> None:
    found = find(project, Path("nowhere"))
    (problem,) = found.problems
    assert problem.code == "root-missing"
    assert "nowhere" in problem.message


def test_a_root_that_cannot_be_listed_is_said(as_ordinary_user: Path) -> None:
    project = as_ordinary_user / "project"
    root = project / PROJECT_ROOTS[0]
    put(root, "one")
    put(project / PROJECT_ROOTS[1], "two")
    root.chmod(0)
    found = discover(project, include_builtin=False, home=as_ordinary_user)
    assert names(found) == ["two"]
    assert [d.code for d in found.problems] == ["root-unreadable"]


def test_a_skill_folder_that_cannot_be_entered_stays_listed(as_ordinary_user: Path) -> None:
    root = as_ordinary_user / "project" / PROJECT_ROOTS[0]
    put(root, "one").parent.chmod(0)
    put(root, "two")
    found = discover(as_ordinary_user / "project", include_builtin=False, home=as_ordinary_user)
    assert names(found) == ["one", "two"]
    assert [d.code for d in found.problems] == ["file-forbidden"]


def test_a_file_where_a_root_might_be_is_nothing_to_us(project: Path) -> None:
    (project / ".kimi").write_text("not a folder")
    assert find(project).problems == ()


# ---- speed ----------------------------------------------------------------------------------


def test_the_quick_list_reads_no_chart(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a chart was read")

    put(project / PROJECT_ROOTS[0], "one", FLOW)
    monkeypatch.setattr("flowstudio.skill.chart.read_chart", fail)
    found = discover(project, include_builtin=False, home=project.parent, charts=False)
    assert [(s.name, s.type, s.checked) for s in found.skills] == [("one", "flow", False)]


def test_after_the_quick_list_every_chart_is_read(project: Path) -> None:
    put(project / PROJECT_ROOTS[0], "one", FLOW)
    quick = discover(project, include_builtin=False, home=project.parent, charts=False)
    skill = find(project, previous=quick).skills[0]
    assert (skill.checked, skill.flow is not None) == (True, True)


def test_what_has_not_changed_is_not_read_again(project: Path) -> None:
    root = project / PROJECT_ROOTS[0]
    put(root, "same", FLOW)
    changed = put(root, "changed", FLOW)
    before = find(project)
    changed.write_text(changed.read_text().replace("work", "resting"))
    after = find(project, previous=before)
    assert after.get("same") is before.get("same")
    flow = after.get("changed")
    assert flow is not None
    assert flow.chart is not None
    assert "resting" in flow.chart.nodes


def test_a_refresh_keeps_the_places(project: Path) -> None:
    opened = put(project / "elsewhere", "opened")
    before = discover(project, files=[opened], include_builtin=False, home=project.parent)
    put(project / PROJECT_ROOTS[0], "new")
    assert names(refresh(before)) == ["new", "opened"]
    opened.unlink()
    assert names(refresh(before)) == ["new"]


def test_an_edit_that_keeps_size_and_time_is_noticed(project: Path) -> None:
    path = put(project / PROJECT_ROOTS[0], "one", description="old")
    before = find(project)
    times = path.stat()
    path.write_text(path.read_text().replace("old", "new"))
    # The inode's own clock ticks every few milliseconds only.
    while path.stat().st_ctime_ns == times.st_ctime_ns:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert find(project, previous=before).skills[0].description == "new"


def test_roots_are_known_before_they_exist(project: Path) -> None:
    roots = find_roots(project, include_builtin=False, home=project.parent)
    assert [root.path for root in roots][:4] == [project / part for part in PROJECT_ROOTS]
    assert find(project).roots == roots
