"""How near a query is to a skill: the nearest of its sentences, what it says of itself, words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flowstudio.mindflow.lexical import LexicalIndex
from flowstudio.mindflow.library import read_planning
from flowstudio.mindflow.model import LibrarySkill
from flowstudio.mindflow.nearness import about_texts, handicap, nearness, shared_words, texts_of
from flowstudio.skill import load_skill


def test_one_chance_hit_among_many_sentences_counts_less_than_several_near_ones() -> None:
    one_hit = [0.9] + [0.1] * 31
    several = [0.6] * 4 + [0.1] * 28
    assert nearness([0.2], one_hit) < nearness([0.2], several)


def test_sentences_of_another_kind_cost_a_skill_nothing() -> None:
    assert nearness([0.2], [0.6] * 4 + [0.0] * 28) == nearness([0.2], [0.6] * 4 + [0.5] * 28)


def test_a_skill_of_few_sentences_is_found_by_its_nearest_one() -> None:
    assert nearness([], [0.7, 0.1, 0.1]) == 0.7


def test_a_skill_without_sentences_is_found_by_what_it_says_of_itself() -> None:
    assert nearness([0.3, 0.5], []) == 0.5
    assert nearness([], []) == 0.0


def test_the_texts_about_a_skill_come_before_what_people_say() -> None:
    skill = LibrarySkill("tidy-up", "Tidies rooms.", "Tidy up", ("what a mess",))
    assert texts_of(skill) == (*about_texts(skill), "what a mess")
    assert texts_of(LibrarySkill("bare")) == ("bare",)


def test_a_query_of_known_words_alone_shares_all_of_it() -> None:
    words = LexicalIndex()
    words.put("rooms", "tidy messy rooms")
    words.put("files", "sort files")
    shared = shared_words(words, "tidy rooms", 5)
    assert list(shared) == ["rooms"]
    assert shared["rooms"] > 0.9


def test_the_fewer_sentences_a_skill_has_the_more_it_is_given() -> None:
    given = [handicap(count) for count in (0, 1, 3, 10, 100)]
    assert given == sorted(given, reverse=True)
    assert given[2] == given[0] / 2
    assert given[-1] < given[0] / 20


def test_a_skill_without_sentences_is_found_by_lines_of_its_instructions_too(
    tmp_path: Path,
) -> None:
    path = tmp_path / "brew" / "SKILL.md"
    path.parent.mkdir()
    body = "# Brew\n\nFill the kettle with fresh cold water.\n\n| a | table of nothing here |\n"
    path.write_text(f"---\nname: brew\ndescription: Makes tea.\n---\n{body}", encoding="utf-8")
    read, _ = read_planning(load_skill(path))
    lines = set(texts_of(read)) - set(about_texts(read))
    assert lines == {"Fill the kettle with fresh cold water."}
    assert "Fill the kettle" not in " ".join(texts_of(replace(read, utterances=("tea",))))
    # What it says of itself counts for more beside instructions than beside people's sentences.
    assert nearness([0.6], [0.2], is_said=False) > nearness([0.6], [0.2])
