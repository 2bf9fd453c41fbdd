"""Who answers in many runs: said once, as a value that other processes understand too.

A chat provider holds connections and cannot be sent anywhere; a `Who` can, and each process makes
its own provider of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.models.llm import LLM
    from flowstudio.models.registry import ModelOption
    from flowstudio.models.script import Script


@dataclass(frozen=True, slots=True)
class Who:
    """A script, a seeded walk, or a model by its name; the configured model where all are None."""

    model: str | None = None
    script: Script | None = None
    seed: int | None = None
    script_file: str | None = None
    """Where the script was read from, for the record."""

    @property
    def is_rehearsal(self) -> bool:
        """True where no model is asked."""
        return self.script is not None or self.seed is not None


async def find_option(who: Who, config: Config) -> ModelOption | None:
    """The model that will answer; None in a rehearsal. Imports no SDK and asks no model.

    Raises:
        ModelError: there is no such model, it cannot be used, or nobody is there to answer.
    """
    from flowstudio.models.errors import ModelError
    from flowstudio.models.local import resolve_model
    from flowstudio.models.registry import REHEARSAL, default_model

    if who.is_rehearsal:
        return None
    option = await resolve_model(config, who.model) if who.model else default_model(config)
    if option.name == REHEARSAL:
        raise ModelError(
            "nobody is there to answer: give --script FILE, --seed N or --model M, or set a key "
            "such as OPENAI_API_KEY. In the studio (flowstudio) you answer yourself."
        )
    if option.why_not:
        raise ModelError(f"The model {option.name} cannot be used. {option.why_not}")
    return option


async def build_llm(who: Who, config: Config, *, lap: int = 0) -> LLM:
    """Whoever answers, ready to.

    Args:
        lap: which of many like runs it is for, from 0. A seed's walks differ from lap to lap, else
            they would all be the same one.

    Raises:
        ModelError: as `find_option`, or the model's provider cannot be set up.
    """
    from flowstudio.models.llm import LLM
    from flowstudio.models.registry import REHEARSAL
    from flowstudio.models.rehearsal import RehearsalProvider, ScriptAnswers, SeededWalk

    option = await find_option(who, config)
    if option is not None:
        from flowstudio.models.build import build_model

        return await build_model(option, config)
    answerer = ScriptAnswers(who.script) if who.script else SeededWalk((who.seed or 0) + lap)
    return LLM(RehearsalProvider(answerer), REHEARSAL, REHEARSAL, None)
