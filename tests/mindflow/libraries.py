"""Libraries as values, for tests and benchmarks of this room."""

from __future__ import annotations

import random
from pathlib import Path

import yaml

from flowstudio.mindflow.model import Library, LibrarySkill, Methodology

SIMPLE = Methodology("meth_simple", "Simple", "simple over complex", "could it be shorter?", 0.8)
STDLIB = Methodology("meth_stdlib", "Standard", "standard library first", "what is imported?", 0.4)


def library_of(*skills: LibrarySkill, methodologies: tuple[Methodology, ...] = ()) -> Library:
    """A library of these skills."""
    return Library({skill.name: skill for skill in skills}, {one.id: one for one in methodologies})


def data_library() -> Library:
    """Five skills of data work with every kind of line between them."""
    return library_of(
        LibrarySkill(
            "csv",
            "Reads tables from CSV files and sums them up.",
            utterances=("total this export by month", "把这张表按月汇总"),
            preconditions=("has_csv_file",),
            effects=("has_dataframe",),
            called_skills=("file-io",),
            methodology_scores={"meth_simple": 0.9, "meth_stdlib": 0.75},
            artifacts=("scripts/look.py",),
        ),
        LibrarySkill(
            "cleaning",
            "Cleans dirty data: empty cells, doubled rows, odd dates.",
            utterances=("half of the rows are doubled", "好多空值，清理一下"),
            preconditions=("has_dataframe",),
            effects=("has_clean_data",),
            called_skills=("csv", "file-io"),
            methodology_scores={"meth_simple": 0.8, "meth_stdlib": 0.2},
        ),
        LibrarySkill(
            "charts",
            "Draws charts from clean data.",
            utterances=("show me the trend", "画个趋势图"),
            preconditions=("has_clean_data",),
            effects=("has_chart",),
            methodology_scores={"meth_simple": 0.7},
        ),
        LibrarySkill(
            "file-io",
            "Reads and writes files.",
            utterances=("rename these documents", "把这些文档改名"),
            preconditions=("has_file_path",),
            effects=("has_file_content",),
            methodology_scores={"meth_simple": 0.3, "meth_stdlib": 0.95},
        ),
        LibrarySkill("diary", "Writes down how the day went.", utterances=("今天过得怎么样",)),
        methodologies=(SIMPLE, STDLIB),
    )


def big_library(count: int, seed: int = 1) -> Library:
    """`count` skills as people might have them: words of many fields, states that chain up."""
    chance = random.Random(seed)
    methodologies = tuple(
        Methodology(f"meth_{at}", f"Way {at}", weight=chance.choice((0.4, 0.6, 0.8)))
        for at in range(5)
    )
    skills: list[LibrarySkill] = []
    for at in range(count):
        what, how = chance.choice(_THINGS), chance.choice(_DEEDS)
        name = f"{how}-{what}-{at}"
        skills.append(
            LibrarySkill(
                name,
                f"Use it to {how} the {what} of team {at}, and to say what came out of it.",
                utterances=tuple(
                    f"{chance.choice(_OPENINGS)} {how} {chance.choice(_THINGS)} number {at}.{turn}"
                    for turn in range(4)
                )
                + tuple(
                    f"帮我处理第{at}号{chance.choice(_THINGS_ZH)}，第{turn}次" for turn in range(2)
                ),
                preconditions=(f"has_{what}_{at // 7}",),
                effects=(f"has_{chance.choice(_THINGS)}_{at // 7 + 1}",),
                called_skills=tuple(
                    skills[chance.randrange(at)].name for _ in range(chance.randrange(3)) if at
                ),
                methodology_scores={
                    one.id: round(chance.uniform(0.3, 1), 2) for one in methodologies
                },
                artifacts=(f"templates/{what}.md",),
            )
        )
    return library_of(*skills, methodologies=methodologies)


def write_library(library: Library, root: Path) -> None:
    """The same skills as files below `root`, without methodologies."""
    for skill in library.skills.values():
        front = {
            "name": skill.name,
            "description": skill.description,
            "utterances": list(skill.utterances),
            "preconditions": list(skill.preconditions),
            "effects": list(skill.effects),
            "called_skills": list(skill.called_skills),
        }
        place = root / skill.name
        place.mkdir(parents=True)
        text = yaml.safe_dump(front, allow_unicode=True)
        (place / "SKILL.md").write_text(f"---\n{text}---\n# {skill.name}\n", encoding="utf-8")


_THING_WORDS = """
invoice report contract photo log table mail ticket recipe garden calendar playlist map novel
budget lecture poster server backup release password chart survey interview translation
"""
_THING_WORDS_ZH = """
发票 报告 合同 照片 日志 表格 邮件 工单 菜谱 花园 日历 歌单 地图 小说 预算 讲座
"""
_DEED_WORDS = """
sort check write merge clean split compare draw count archive rename plan review fix test
summarise convert collect publish label
"""
_THINGS = _THING_WORDS.split()
_THINGS_ZH = _THING_WORDS_ZH.split()
_DEEDS = _DEED_WORDS.split()
_OPENINGS = ("please", "I want to", "could you", "it is time to", "help me")
