"""Sets up the session of the studio: model, soul and tools. Imports kosong, so it is imported
late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.models import AskUser, ModelError, RehearsalProvider, ScriptAnswers, SeededWalk
from flowstudio.models.build import build_model
from flowstudio.models.llm import LLM
from flowstudio.models.registry import default_model, find_model, list_models, rehearsal_option
from flowstudio.models.script import load_script
from flowstudio.run.session import Session
from flowstudio.soul import Runtime, default_agent
from flowstudio.wire import Wire

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.models.rehearsal import Question
    from flowstudio.studio.driver import StudioOptions


async def open_session(
    options: StudioOptions,
    config: Config,
    work_dir: Path,
    ask: Callable[[Question], Awaitable[str]],
) -> tuple[Session, str]:
    """The session, and a sentence on what could not be had (empty where all is well)."""
    problem = ""
    if options.max_ralph_iterations is not None:
        config.loop.max_ralph_iterations = options.max_ralph_iterations
    try:
        llm = await _find_llm(options, config, ask)
    except ModelError as error:
        problem = f"{error} Until then this is a rehearsal."
        llm = await build_model(rehearsal_option(), config, answerer=AskUser(ask))
    runtime = Runtime.create(
        config, Wire(), work_dir=work_dir, llm=llm, yolo=options.yolo or config.yolo
    )
    session = Session(runtime, default_agent(runtime), runs_dir=paths.runs_dir())
    return session, problem


async def _find_llm(
    options: StudioOptions, config: Config, ask: Callable[[Question], Awaitable[str]]
) -> LLM:
    if options.script is not None:
        return _rehearse(ScriptAnswers(load_script(options.script)), options)
    if options.seed is not None:
        return _rehearse(SeededWalk(options.seed), options)
    if options.model is None:
        option = default_model(config)
    else:
        option = find_model(list_models(config), options.model)
    return await build_model(option, config, answerer=AskUser(ask))


def _rehearse(answers: ScriptAnswers | SeededWalk, options: StudioOptions) -> LLM:
    provider = RehearsalProvider(answers, pace=options.pace)
    return LLM(provider, "rehearsal", "rehearsal", None, frozenset({"image", "tools"}))
