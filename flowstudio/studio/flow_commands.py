"""The slash commands that run flows: `/flow:NAME` for each, `/begin` for the one that is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from flowstudio.soul.slash import SlashCommand

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.soul.kimisoul import KimiSoul


def flow_commands(
    skills: Sequence[Skill], start: Callable[[Skill | None, str], None]
) -> list[SlashCommand]:
    """The commands for these skills; `start` is given the skill (None: the one shown) and input."""

    def starter(skill: Skill | None) -> SlashCommand:
        async def run(_soul: KimiSoul, args: str) -> None:
            start(skill, args)

        if skill is None:
            return SlashCommand("begin", "Run the flow that is shown", run, arguments="[input]")
        return SlashCommand(f"flow:{skill.name}", skill.description, run, arguments="[input]")

    return [starter(None), *(starter(skill) for skill in skills if skill.flow is not None)]
