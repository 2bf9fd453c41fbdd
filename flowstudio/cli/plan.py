"""`flowstudio plan`: from a goal to a flow of skills."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.cli.output import fail, print_json, say
from flowstudio.config import load_config
from flowstudio.mindflow.failing import Troubles
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.plan import Plan, scores_of
from flowstudio.mindflow.plan_flow import PlannedSkill, plan_skill
from flowstudio.mindflow.plan_goal import find_states, match_goal
from flowstudio.mindflow.serving import Served, serve_goal
from flowstudio.models.errors import ModelError
from flowstudio.skill import configured_dirs, discover
from flowstudio.text import shorten

if TYPE_CHECKING:
    from flowstudio.mindflow.model import History, Library
    from flowstudio.mindflow.search import Answer
    from flowstudio.models.llm import LLM


def plan(args: argparse.Namespace) -> int:
    """`flowstudio plan`"""
    text = " ".join(args.goal).strip()
    if not text:
        return fail("the goal is empty", "say what you want, in a sentence")
    if args.model and args.no_model:
        return fail("--model and --no-model exclude each other", "")
    troubles = Troubles()
    extra_dirs = configured_dirs(args.skills_dir)
    library = read_library(discover(Path.cwd(), extra_dirs=extra_dirs))
    have, odd = find_states([one for group in args.have for one in group], library)
    for sentence in odd:
        say(f"flowstudio: {sentence}", file=sys.stderr)
    try:
        llm = None if args.no_model else asyncio.run(_find_model(args, text, library, troubles))
    except ModelError as error:
        return fail(str(error), "")
    served = asyncio.run(
        serve_goal(
            text,
            library,
            score=scores_of(library, _histories(troubles)),
            have=have,
            llm=llm,
            find=lambda words: _search(words, library),
            troubles=troubles,
        )
    )
    goal, found = served.goal, served.plan
    planned = plan_skill(found, library, text, args.name) if found and found.steps else None
    written: Path | None = None
    if args.output is not None and planned is not None:
        try:
            written = _write(planned, args.output, force=args.force)
        except OSError as error:
            return fail(str(error), "give another place to -o, or --force to replace it")
    for sentence in troubles.said:
        say(f"flowstudio: {sentence}", file=sys.stderr)
    if args.json:
        print_json(_record(served, planned, written, troubles), indent=2)
    else:
        _print(served, library)
        if args.draw and planned is not None:
            from flowstudio.drawing import draw

            say()
            say(draw(planned.flow, zoom="title").text())
        if written is not None:
            say(f"\nwritten: {written}")
            say(f"  flowstudio run {written} --trust   or   flowstudio {written}")
    return 0 if goal.states and found is not None and not found.gaps else 1


async def _find_model(
    args: argparse.Namespace, text: str, library: Library, troubles: Troubles
) -> LLM | None:
    """The model that reads the goal; None where nobody needs to, or where there is only the
    rehearsal.

    Raises:
        ModelError: the model that the call names cannot be used.
    """
    # Names of states need nobody to read them, and a model takes a second to be set up.
    if match_goal(text, library).by == "names":
        return None
    from flowstudio.models import build_model, default_model, resolve_model

    config = load_config().config
    try:
        option = await resolve_model(config, args.model) if args.model else default_model(config)
        return None if option.name == "rehearsal" else await build_model(option, config)
    except ModelError as error:
        if args.model:
            raise
        troubles.add(f"{error} The goal is read by its words.")
        return None


def _search(words: str, library: Library) -> Answer:
    from flowstudio.mindflow.opening import open_finder

    with open_finder(load_config().config.search, Path.cwd()) as finder:
        finder.update(library)
        finder.wait()
        return finder.find(words)


def _histories(troubles: Troubles) -> dict[str, History]:
    """What the user's use says; nothing where there is none, or where it cannot be read."""
    from flowstudio.mindflow.database import Database, DatabaseError, database_file

    if not database_file().exists():
        return {}
    from flowstudio.mindflow.usage import UsageLog

    try:
        with Database() as database:
            if database.repaired:
                troubles.add(database.repaired)
            return UsageLog(database).histories()
    except DatabaseError as error:
        troubles.add(f"{error} The plan is made without it.")
        return {}


def _write(planned: PlannedSkill, output: str, *, force: bool) -> Path:
    """Write the skill; gives its file.

    Raises:
        OSError: it cannot be written, or something is there already.
    """
    place = Path(output)
    if (
        place.is_dir()
        or output.endswith(os.sep)
        or place.suffix.lower() not in (".md", ".markdown")
    ):
        place = place / planned.name / "SKILL.md"
    if place.exists() and not force:
        raise FileExistsError(f"{place} is there already")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(planned.text, encoding="utf-8")
    return place


def _print(served: Served, library: Library) -> None:
    goal, found = served.goal, served.plan
    if found is None:
        say("What you want was not understood well enough to plan it.")
        say("These skills are nearest; run one, or say it in other words:")
        for skill in served.options:
            say(f"  {skill.name}  {shorten(skill.description, 70)}")
        if goal.near:
            say("Or give a state by its name:")
            for state in goal.near:
                say(f"  {_mean(state, library)}")
        return
    how = {"names": "by name", "model": "the model read it", "words": "by its words"}
    if served.way == "reduced":
        say(f"no plan for all of it, but one skill that fits: {found.steps[-1].skill.name}")
    else:
        say(f"goal: {', '.join(goal.states)}  ({how[goal.by]})")
    if found.needs:
        say("needs: " + "; ".join(_mean(state, library) for state in found.needs))
        say("       nobody here brings that about: have it at hand (--have says that it is)")
    if not found.steps and not found.gaps:
        say("nothing is to be done: all of it holds already")
    width = max((len(step.skill.name) for step in found.steps), default=0)
    for number, step in enumerate(found.steps, 1):
        gives = ", ".join(step.provides)
        others = f"   (or {', '.join(step.others)})" if step.others else ""
        say(f"{number:>3}. {step.skill.name:<{width}}  → {gives}   score {step.score:.2f}{others}")
    for circle in found.left:
        say(f"passed over, since it leads in a circle: {circle}")
    for gap in found.gaps:
        say(f"cannot be had: {_mean(gap.state, library)}")
        for state in gap.missing:
            say(f"  missing: no skill brings about {_mean(state, library)}")
        for circle in gap.circles:
            say(f"  circle: {circle}; --have {circle.states[-1]} would open it")


def _mean(state: str, library: Library) -> str:
    what = library.states.get(state, "")
    return f"{state} ({shorten(what, 80)})" if what else state


def _record(
    served: Served, planned: PlannedSkill | None, written: Path | None, troubles: Troubles
) -> dict[str, Any]:
    goal = served.goal
    found = served.plan or Plan(())

    def circles(of: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [{"states": list(one.states), "skills": list(one.skills)} for one in of]

    return {
        "way": served.way,
        "goal": {
            "text": goal.text,
            "states": list(goal.states),
            "read_by": goal.by,
            "near": list(goal.near),
        },
        "options": [skill.name for skill in served.options],
        "have": sorted(found.have),
        "needs": list(found.needs),
        "steps": [
            {
                "skill": step.skill.name,
                "path": str(step.skill.skill.path) if step.skill.skill else None,
                "provides": list(step.provides),
                "score": round(step.score, 4),
                "others": list(step.others),
            }
            for step in found.steps
        ],
        "gaps": [
            {"state": gap.state, "missing": list(gap.missing), "circles": circles(gap.circles)}
            for gap in found.gaps
        ],
        "passed_over": circles(found.left),
        "name": planned.name if planned else None,
        "skill": planned.text if planned else None,
        "written": str(written) if written else None,
        "notices": troubles.said,
    }
