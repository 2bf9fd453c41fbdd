"""The slash commands that run flows: `/flow:NAME` for each, `/begin` for the one that is shown,
`/ralph` for a plain prompt as a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from flowstudio.soul.slash import SlashCommand

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.soul.kimisoul import KimiSoul


def flow_commands(
    skills: Sequence[Skill],
    start: Callable[[Skill | None, str], None],
    start_loop: Callable[[str], None],
) -> list[SlashCommand]:
    """The commands for these skills.

    Args:
        start: is given the skill (None: the one shown) and its input.
        start_loop: is given what stands behind `/ralph`.
    """

    def starter(skill: Skill | None) -> SlashCommand:
        async def run(_soul: KimiSoul, args: str) -> None:
            start(skill, args)

        if skill is None:
            return SlashCommand("begin", "Run the flow that is shown", run, arguments="[input]")
        return SlashCommand(f"flow:{skill.name}", skill.description, run, arguments="[input]")

    async def loop(_soul: KimiSoul, args: str) -> None:
        start_loop(args)

    ralph = SlashCommand(
        "ralph", "Repeat a prompt until the model says STOP", loop, arguments="[rounds] prompt"
    )
    return [starter(None), ralph, *(starter(skill) for skill in skills if skill.flow is not None)]
