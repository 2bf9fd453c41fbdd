"""Learning from use: what the user's data suggests, as changes that wait for an answer.

Two things are learned, both only from what was done several times:

- words that meant another skill than was found become an utterance of that skill (a change);
- skills that were used one after the other, and went well, become a flow (a new skill).

Nothing is written here: each proposal goes through the review queue, whatever its risk, so that
even a small one is seen before it is in force.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flowstudio import paths
from flowstudio.mindflow.changes import Change, FileChange
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.library import read_planning
from flowstudio.mindflow.plan import Plan, Step
from flowstudio.mindflow.plan_flow import name_plan, plan_skill, quote
from flowstudio.mindflow.usage import UsageLog
from flowstudio.skill import find_project, reread
from flowstudio.skill.front import find_front
from flowstudio.skill.roots import PROJECT_ROOTS, USER_ROOTS

if TYPE_CHECKING:
    from flowstudio.mindflow.database import Database
    from flowstudio.mindflow.model import Library, LibrarySkill
    from flowstudio.mindflow.queue import Queued, ReviewQueue
    from flowstudio.mindflow.risk import Reach
    from flowstudio.skill import Skill

WISHES = 2
"""How often words must have meant a skill before they become an utterance of it."""
REPEATS = 3
"""In how many sessions skills must have been used in a row before they become a flow."""
LONGEST_ROW = 6
MOST_PROPOSALS = 5
"""Proposals that one look makes at most: a user reads them all."""

_FIELDS = ("utterances", "examples", "example_utterances")


def learn(database: Database, library: Library, queue: ReviewQueue) -> list[Queued]:
    """Look at the user's data and queue what it suggests; gives what is new in the queue.

    Raises:
        DatabaseError: it cannot be read or written.
    """
    known = {name.casefold() for name in library.skills}
    proposals = [
        *learn_utterances(FeedbackLog(database), library),
        *learn_flows(UsageLog(database), library, known),
    ]
    found: list[Queued] = []
    for change in proposals:
        if len(found) == MOST_PROPOSALS:
            break
        one, is_new = queue.add(change)
        if is_new:
            found.append(one)
    return found


def learn_utterances(log: FeedbackLog, library: Library) -> Iterator[Change]:
    """A change for each skill whose users call it by words that it does not know."""
    for wish in log.wishes(WISHES):
        known = library.skills.get(wish.skill)
        if known is None or known.skill is None or known.skill.scope == "builtin":
            # What is bundled is not the user's to change; a copy of it is.
            continue
        change = add_utterance(known, wish.words, wish.times)
        if change is not None:
            yield change


def add_utterance(known: LibrarySkill, words: str, times: int) -> Change | None:
    """The change that adds an utterance to a skill's front matter.

    None where it has it already, or where it cannot be added without touching something else: the
    edited file is read again, and must say the same in all other fields.
    """
    skill = known.skill
    if skill is None or words.casefold() in (one.casefold() for one in known.utterances):
        return None
    # What its own file says: a library may know more phrases, which stand elsewhere.
    own = read_planning(skill)[0].utterances
    text = _with_utterance(skill, own, words)
    if text is None or not _says_only_more(skill, text, own, words):
        return None
    file = FileChange(skill.path, skill.root.parent, skill.source, text)
    return Change(
        "skill_update",
        _reach_of(skill),
        f"{skill.name} is also asked for as “{words}”",
        f"These words meant {skill.name} {times} times, and something else was found first.",
        (file,),
        topic=f"utterance {skill.path} {words.casefold()}",
    )


def learn_flows(log: UsageLog, library: Library, known: set[str] | None = None) -> Iterator[Change]:
    """A new flow skill for each row of skills that was used again and again."""
    taken = known if known is not None else {name.casefold() for name in library.skills}
    covered = [one.called_skills for one in library.skills.values() if len(one.called_skills) > 1]
    for row, times in find_rows(log.sequences()):
        skills = [library.skills.get(name) for name in row]
        if any(one is None for one in skills) or row in covered:
            continue
        steps = cast("list[LibrarySkill]", skills)
        yield _flow_of(steps, times, library, taken)


def find_rows(sequences: Sequence[Sequence[str]]) -> list[tuple[tuple[str, ...], int]]:
    """Rows of skills that at least `REPEATS` sessions have, with their number of sessions.

    Of rows in one another with the same number, the longest stands.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for sequence in sequences:
        # The same skill several times running is one use of it.
        row = [one for at, one in enumerate(sequence) if not at or one != sequence[at - 1]]
        rows = {
            tuple(row[start : start + length])
            for length in range(2, LONGEST_ROW + 1)
            for start in range(len(row) - length + 1)
        }
        counts.update(one for one in rows if len(set(one)) == len(one))
    often = {row: times for row, times in counts.items() if times >= REPEATS}
    kept = [
        (row, times)
        for row, times in often.items()
        if not any(
            len(other) > len(row) and times == often[other] and _holds(other, row)
            for other in often
        )
    ]
    return sorted(kept, key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))


def _holds(row: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(row[at : at + len(part)] == part for at in range(len(row) - len(part) + 1))


def _flow_of(
    skills: Sequence[LibrarySkill], times: int, library: Library, taken: set[str]
) -> Change:
    names = [one.name for one in skills]
    steps: list[Step] = []
    for at, one in enumerate(skills):
        later = {state for after in skills[at + 1 :] for state in after.preconditions}
        steps.append(Step(one, tuple(state for state in one.effects if state in later)))
    steps[-1] = Step(skills[-1], skills[-1].effects)
    made = {state for one in skills for state in one.effects}
    needs = dict.fromkeys(state for one in skills for state in one.preconditions)
    plan = Plan(
        skills[-1].effects,
        steps=tuple(steps),
        needs=tuple(state for state in needs if state not in made),
    )
    name = name_plan(" ".join(names)).replace("plan-", "routine-", 1)
    # What a flow made of skills needs to be told apart from: skills of the same name.
    number = 2
    free = name
    while free.casefold() in taken:
        free, number = f"{name}-{number}", number + 1
    planned = plan_skill(plan, library, " → ".join(names), free)
    reach, root = _home_of(skills)
    path = root / planned.name / "SKILL.md"
    return Change(
        "skill_create",
        reach,
        f"a flow of {', '.join(names)}",
        f"They were used in this order in {times} sessions, and each went well.",
        (FileChange(path, root, None, planned.text),),
        topic=f"routine {root} {' '.join(names)}",
    )


def _reach_of(skill: Skill) -> Reach:
    return "local" if skill.scope == "project" else "global"


def _home_of(skills: Sequence[LibrarySkill]) -> tuple[Reach, Path]:
    """Where a new skill of these goes: to the project, if one of them is the project's."""
    of_project = [one.skill for one in skills if one.skill and one.skill.scope == "project"]
    if of_project:
        return "local", of_project[0].root.parent
    project = find_project(Path.cwd())
    for base, roots, reach in (
        (project, PROJECT_ROOTS, "local"),
        (paths.home(), USER_ROOTS, "global"),
    ):
        there = next((base / root for root in roots if (base / root).is_dir()), None)
        if there is not None:
            return cast("Reach", reach), there
    return "global", paths.home() / USER_ROOTS[0]


def _with_utterance(skill: Skill, known: Sequence[str], words: str) -> str | None:
    """The file's text with one more utterance in its front matter; None where that is too hard."""
    text = skill.source
    front = find_front(text)
    if front is None or not front.closed or skill.path.suffix.lower() not in (".md", ".markdown"):
        return None
    end = "\r\n" if "\r\n" in text[front.open : front.body] else "\n"
    block = text[front.start : front.end]
    key = next((one for one in _FIELDS if re.search(rf"^{one}[ \t]*:", block, re.M)), None)
    if key is None:
        # The quotes in the text no longer count beside the field, so they come along.
        listed = ", ".join(quote(one) for one in (*known, words))
        block = f"{block}utterances: [{listed}]{end}"
        return text[: front.start] + block + text[front.end :]
    for edit in (_into_flow_list, _into_block_list):
        edited = edit(block, key, quote(words), end)
        if edited is not None:
            return text[: front.start] + edited + text[front.end :]
    return None


def _into_flow_list(block: str, key: str, item: str, end: str) -> str | None:
    """`utterances: [a, b]` on one line."""
    del end
    found = re.search(rf"^{key}[ \t]*:[ \t]*\[(.*)\][ \t]*(?=\r?$)", block, re.M)
    if found is None:
        return None
    inner = found[1].rstrip().rstrip(",")
    listed = f"{inner}, {item}" if inner.strip() else item
    return block[: found.start(1)] + listed + block[found.end(1) :]


def _into_block_list(block: str, key: str, item: str, end: str) -> str | None:
    """`utterances:` with an item a line, or with a list of either kind for each language."""
    found = re.search(rf"^{key}[ \t]*:[ \t]*\r?\n((?:[ \t]+\S.*\r?\n|-[ \t].*\r?\n)+)", block, re.M)
    if found is None:
        return None
    lines = found[1].splitlines(keepends=True)
    first = re.match(r"([ \t]*)-[ \t]+", lines[0])
    if first is not None:
        return f"{block[: found.end(1)]}{first[0]}{item}{end}{block[found.end(1) :]}"
    # By language: into the list whose language the words are in.
    language = "zh" if re.search("[\u3400-\u9fff]", item) else "en"
    inner = re.search(rf"^[ \t]+{language}[ \t]*:[ \t]*\[(.*)\][ \t]*(?=\r?$)", found[1], re.M)
    if inner is not None:
        at = found.start(1)
        listed = f"{inner[1].rstrip().rstrip(',')}, {item}" if inner[1].strip() else item
        return block[: at + inner.start(1)] + listed + block[at + inner.end(1) :]
    rows = re.search(
        rf"^([ \t]+){language}[ \t]*:[ \t]*\r?\n((?:[ \t]+-[ \t].*\r?\n)+)", found[1], re.M
    )
    if rows is None:
        return None
    at = found.start(1) + rows.end(2)
    lead = re.match(r"[ \t]+-[ \t]+", rows[2])
    return f"{block[:at]}{lead[0] if lead else '    - '}{item}{end}{block[at:]}"


def _says_only_more(skill: Skill, text: str, own: Sequence[str], words: str) -> bool:
    """True where the edited file says the same but for the one more utterance."""
    after = reread(skill, text)
    planned = read_planning(after)[0]

    def rest(meta: Mapping[str, Any]) -> str:
        kept = {key: value for key, value in meta.items() if key not in _FIELDS}
        return json.dumps(kept, sort_keys=True, default=str)

    return (
        set(planned.utterances) == {*own, words}
        and rest(after.meta) == rest(skill.meta)
        and after.body == skill.body
        and after.errors == skill.errors
    )
