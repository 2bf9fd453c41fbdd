"""`flowstudio find` and `flowstudio library graph` as a shell user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell


@pytest.fixture
def library(shell: Shell) -> Shell:
    """A work folder with three skills of its own beside the bundled ones; words are compared."""
    for name, front in {
        "brew-tea": "effects: [has_tea]\nutterances: [a hot cup of earl grey, 泡一壶茶]\n",
        "serve-tea": "preconditions: [has_tea]\ncalled_skills: [brew-tea]\n",
        "polish-cup": "utterances: [shine the cups]\n",
    }.items():
        folder = shell.cwd / "skills" / name
        folder.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: About {name}.\n{front}---\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    config = shell.cwd / "flowstudio-home" / "config" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("search: {embedder: lexical}\n")
    return shell


def test_the_best_skill_is_named_with_its_reasons(library: Shell) -> None:
    done = library("find", "a hot cup of earl grey", "--skills-dir", "skills")
    assert done.status == 0
    assert done.out.startswith("brew-tea  ")
    assert "· similarity" in done.out
    assert "--reject brew-tea" in done.out
    assert "Words alone were compared" in done.err


def test_json_holds_everything_that_the_answer_rests_on(library: Shell) -> None:
    done = library("find", "泡一壶茶", "--json", "--context", "earl", "--skills-dir", "skills")
    (first, *_) = done.json["candidates"]
    assert (done.json["verdict"], done.json["by"], first["name"]) == ("best", "words", "brew-tea")
    assert first["boost"]["topics"] == ["earl"]
    assert {part["id"] for part in first["score"]["parts"]} >= {"meth_simple"}


def test_not_this_one_brings_in_those_around_it(library: Shell) -> None:
    done = library("find", "earl grey", "--reject", "Brew-Tea", "--json", "--skills-dir", "skills")
    found = {one["name"]: one["relation"] for one in done.json["candidates"]}
    assert "brew-tea" not in found
    assert found["serve-tea"] in ("called by", "downstream")


def test_each_result_explains_itself(library: Shell) -> None:
    given = ("find", "earl grey", "--skills-dir", "skills")
    done = library(*given, "--json", "--context", "earl")
    for one in done.json["candidates"]:
        assert 0 <= one["share"] <= 1
        assert one["why"][0].startswith(f"similarity {one['similarity']:.2f}: ")
        assert any(line.startswith("methodologies ") for line in one["why"])
    first = done.json["candidates"][0]
    assert first["name"] == "brew-tea"
    assert any(line.startswith("context +") and "earl" in line for line in first["why"])


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("find", "qqq zzz"), 1, ""),
        (("find", " "), 2, "nothing to look for"),
        (("find", "tea", "--top", "0"), 2, "must be 1 or more"),
        (("find", "tea", "--reject", "brew-te"), 2, "did you mean brew-tea?"),
        (("library", "graph", "brew-te"), 2, "did you mean brew-tea?"),
        (("library", "graph", "brew-tea", "--hops", "-1"), 2, "must be 0 or more"),
    ],
)
def test_wrong_calls_say_what_to_do(
    library: Shell, arguments: tuple[str, ...], status: int, says: str
) -> None:
    done = library(*arguments, "--skills-dir", "skills")
    assert done.status == status
    assert says in done.err
    assert "Traceback" not in done.err


def test_the_graph_of_a_skill_is_drawn(library: Shell) -> None:
    done = library("library", "graph", "brew-tea", "--hops", "2", "--skills-dir", "skills")
    assert done.status == 0
    for shown in ("brew-tea", "state: has_tea", "serve-tea", "produces", "needed by", "calls"):
        assert shown in done.out


def test_the_graph_is_json_svg_and_mermaid_too(library: Shell) -> None:
    given = ("library", "graph", "brew-tea", "--skills-dir", "skills")
    nodes = library(*given, "--json").json["nodes"]
    assert {"kind": "skill", "id": "serve-tea", "distance": 1} in nodes
    assert library(*given, "--format", "mermaid").out.startswith("flowchart")
    assert library(*given, "-o", "tea.svg").status == 0
    assert "has_tea" in Path(library.cwd / "tea.svg").read_text(encoding="utf-8")


def test_a_store_that_is_down_is_said_and_memory_serves(library: Shell) -> None:
    pytest.importorskip("neo4j")
    config = library.cwd / "flowstudio-home" / "config" / "config.yaml"
    config.write_text("search: {embedder: lexical, graph: 'bolt://127.0.0.1:9'}\n")
    done = library("library", "graph", "brew-tea", "--skills-dir", "skills")
    assert done.status == 0
    assert "does not answer; start it again" in done.err
    assert "has_tea" in done.out
