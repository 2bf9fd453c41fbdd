"""The soul's own slash commands, and the one that each standard skill brings."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from flowstudio.models.build import build_model
from flowstudio.models.errors import ModelError
from flowstudio.models.local import discover_local
from flowstudio.models.registry import find_model, list_models
from flowstudio.models.rehearsal import AskUser, Question, SeededWalk
from flowstudio.soul.skills import SkillLike, find_skill_file
from flowstudio.soul.slash import SlashCommand
from flowstudio.soul.undo import UndoError

if TYPE_CHECKING:
    from flowstudio.soul.kimisoul import KimiSoul


def list_own_commands() -> list[SlashCommand]:
    """The commands that every soul has."""
    return [
        SlashCommand("help", "List the commands", _help, aliases=("h", "?")),
        SlashCommand("clear", "Forget the conversation and begin anew", _clear),
        SlashCommand("compact", "Summarise the conversation to make room", _compact),
        SlashCommand(
            "yolo", "Let tools act without asking, or ask again", _yolo, arguments="[on|off]"
        ),
        SlashCommand("undo", "Take back what a tool wrote last", _undo, arguments="[list|number]"),
        SlashCommand("model", "Show the models, or choose one", _model, arguments="[name]"),
        SlashCommand(
            "think", "Let the model think before it answers", _think, arguments="[on|off]"
        ),
    ]


def list_skill_commands(skills: Iterable[SkillLike]) -> list[SlashCommand]:
    """A `/skill:NAME` for each standard skill."""
    return [
        SlashCommand(
            f"skill:{skill.name}",
            skill.description,
            _make_skill_runner(skill),
            arguments="[request]",
        )
        for skill in skills
        if skill.type == "standard"
    ]


def _make_skill_runner(skill: SkillLike) -> Callable[[KimiSoul, str], Awaitable[None]]:
    async def run(soul: KimiSoul, args: str) -> None:
        if soul.runtime.why_no_skill is not None and (why := soul.runtime.why_no_skill(skill)):
            soul.notify(why, "error")
            return
        file = find_skill_file(skill)
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            soul.notify(f"The skill {skill.name} cannot be read: {error}", "error")
            return
        prompt = f"Follow this skill. It stands in {file}.\n\n{text.strip()}"
        if args:
            prompt += f"\n\nThe user's request:\n{args}"
        host = soul.runtime.skill_host
        if host is None:
            await soul.turn(prompt)
            return
        with host.using(soul, skill.name, file) as use:
            turn = await soul.turn(f"{prompt}\n\n{use.note}" if use.note else prompt)
            if turn.rejected:
                use.ended("partial", "a tool was rejected")

    return run


async def _help(soul: KimiSoul, _args: str) -> None:
    rows = [
        (f"/{command.name} {command.arguments}".rstrip(), command.description)
        for command in soul.available_slash_commands
    ]
    width = min(32, max(len(usage) for usage, _ in rows))
    soul.notify("\n".join(f"{usage:<{width}}  {text}" for usage, text in rows))


async def _clear(soul: KimiSoul, _args: str) -> None:
    soul.clear()
    soul.notify("The conversation begins anew.")


async def _compact(soul: KimiSoul, _args: str) -> None:
    before = soul.context.token_count
    if await soul.compact_context():
        soul.notify(f"Summarised: {before} tokens became {soul.context.token_count}.")
    else:
        soul.notify("The conversation is too short to be summarised.")


async def _yolo(soul: KimiSoul, args: str) -> None:
    on = _read_switch(args, soul.runtime.approval.yolo)
    if on is None:
        soul.notify("Write /yolo, /yolo on or /yolo off.", "error")
        return
    soul.runtime.approval.set_yolo(on)
    soul.notify("Tools act without asking." if on else "Tools ask before they change anything.")


async def _undo(soul: KimiSoul, args: str) -> None:
    log = soul.runtime.undo
    if args.casefold() == "list":
        rows = [
            f"{one.number:>4}  {time.strftime('%H:%M:%S', time.localtime(one.time))}  "
            f"{'created' if one.before is None else 'changed'} {one.path}"
            for one in log.writes
        ]
        soul.notify("\n".join([*rows, "/undo takes back the last one, /undo NUMBER one of them."]))
        return
    if args and not args.isdigit():
        soul.notify("Write /undo, /undo list or /undo NUMBER.", "error")
        return
    found = [one for one in log.writes if not args or one.number == int(args)]
    if not found:
        what = f"There is no write {args}" if args else "No tool wrote anything"
        soul.notify(f"{what} that could be taken back; /undo list shows them all.")
        return
    try:
        soul.notify(f"Taken back: {log.revert(found[-1])}.")
    except UndoError as error:
        soul.notify(str(error), "error")


async def _think(soul: KimiSoul, args: str) -> None:
    on = _read_switch(args, soul.thinking)
    if on is None:
        soul.notify("Write /think, /think on or /think off.", "error")
        return
    soul.set_thinking(on)
    soul.notify("The model thinks before it answers." if on else "The model answers at once.")


async def _model(soul: KimiSoul, args: str) -> None:
    config = soul.runtime.config
    options = [*list_models(config), *await discover_local()]
    if not args:
        rows = [
            f"{'*' if soul.llm and option.name == soul.llm.name else ' '} {option.name}"
            + (f"  ({option.why_not})" if option.why_not else "")
            for option in options
        ]
        soul.notify("\n".join([*rows, "Choose one with /model NAME."]))
        return

    async def ask(question: Question) -> str:
        return await soul.runtime.questions.ask(question.prompt, question.branches)

    answerer = AskUser(ask) if soul.runtime.questions.somebody else SeededWalk(0)
    try:
        llm = await build_model(find_model(options, args), config, answerer=answerer)
    except ModelError as error:
        soul.notify(str(error), "error")
        return
    soul.set_model(llm)
    soul.notify(f"{llm.name} answers from now on.")


def _read_switch(args: str, now: bool) -> bool | None:
    """What a switch is set to: the other position without an argument, None for a wrong one."""
    match args.casefold():
        case "":
            return not now
        case "on" | "yes" | "true":
            return True
        case "off" | "no" | "false":
            return False
        case _:
            return None
