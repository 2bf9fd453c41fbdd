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
from flowstudio.mindflow.plan import Plan, plan_states, scores_of
from flowstudio.mindflow.plan_flow import PlannedSkill, plan_skill
from flowstudio.mindflow.plan_goal import Goal, find_states, read_goal
from flowstudio.skill import configured_dirs, discover
from flowstudio.text import shorten

if TYPE_CHECKING:
    from flowstudio.mindflow.model import History, Library
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
    goal = asyncio.run(_read(args, text, library, troubles))
    if goal is None:
        return 2
    found = plan_states(
        library.skills.values(),
        goal.states,
        have,
        score=scores_of(library, _histories(troubles)),
    )
    planned = plan_skill(found, library, text, args.name) if found.steps else None
    written: Path | None = None
    if args.output is not None and planned is not None:
        try:
            written = _write(planned, args.output, force=args.force)
        except OSError as error:
            return fail(str(error), "give another place to -o, or --force to replace it")
    for sentence in troubles.said:
        say(f"flowstudio: {sentence}", file=sys.stderr)
    if args.json:
        print_json(_record(goal, found, planned, written, troubles), indent=2)
    else:
        _print(goal, found, library)
        if args.draw and planned is not None:
            from flowstudio.drawing import draw

            say()
            say(draw(planned.flow, zoom="title").text())
        if written is not None:
            say(f"\nwritten: {written}\n  flowstudio run {written}   or   flowstudio {written}")
    return 0 if goal.states and not found.gaps else 1


async def _read(
    args: argparse.Namespace, text: str, library: Library, troubles: Troubles
) -> Goal | None:
    """The goal as it is understood; None where the model that is named cannot be used."""
    from flowstudio.mindflow.plan_goal import match_goal

    # Names of states need nobody to read them, and a model takes a second to be set up.
    goal = match_goal(text, library)
    if goal.by == "names" or args.no_model:
        return goal
    llm = None
    from flowstudio.models import ModelError

    try:
        llm = await _find_model(args.model)
    except ModelError as error:
        if args.model:
            fail(str(error), "")
            return None
        troubles.add(f"{error} The goal is read by its words.")
    return goal if llm is None else await read_goal(text, library, llm=llm, troubles=troubles)


async def _find_model(name: str | None) -> LLM | None:
    """The model that is named, else the configured one; None where there is only the rehearsal."""
    from flowstudio.models import build_model, default_model, resolve_model

    config = load_config().config
    option = await resolve_model(config, name) if name else default_model(config)
    return None if option.name == "rehearsal" else await build_model(option, config)


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


def _print(goal: Goal, found: Plan, library: Library) -> None:
    if not goal.states:
        say("The goal was not understood: no state here fits it.")
        if goal.near:
            say("These are known; give one by its name, or say it in other words:")
            for state in goal.near:
                say(f"  {_mean(state, library)}")
        return
    how = {"names": "by name", "model": "the model read it", "words": "by its words"}
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
    goal: Goal, found: Plan, planned: PlannedSkill | None, written: Path | None, troubles: Troubles
) -> dict[str, Any]:
    def circles(of: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [{"states": list(one.states), "skills": list(one.skills)} for one in of]

    return {
        "goal": {
            "text": goal.text,
            "states": list(goal.states),
            "read_by": goal.by,
            "near": list(goal.near),
        },
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
