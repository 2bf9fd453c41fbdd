"""What no skill serves: everyday sentences that a query may be nearer to than to any skill.

A single floor cannot tell a strange request from one that is put strangely: some sentences lie near
to everything. So a query is compared with foreign sentences (foreign.yaml) as with skills, and its
floor lies a little above the nearest of them. Topics that a skill of the library is about are left
out, or a cook's recipe skill would never be found.

The constants were chosen on tests/mindflow/tuning.yaml: see tests/benchmarks/bench_find.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flowstudio.mindflow.embed import Vectors

NEAREST = 5
"""So many foreign sentences, the nearest ones, say how foreign a query is, by their mean."""
LEAD = 0.9
"""By how many spreads of the model a skill must be nearer than these."""
SERVED_BY = 3
"""A skill is about a topic when so many of its sentences…"""
SERVED = 5.5
"""…are by so many spreads of the model above its floor, by their mean."""


@lru_cache(maxsize=1)
def topics() -> Mapping[str, tuple[str, ...]]:
    """The sentences by topic."""
    import yaml

    read = yaml.safe_load(Path(__file__).with_name("foreign.yaml").read_text(encoding="utf-8"))
    return {topic: tuple(said) for topic, said in read.items()}


def is_served(topic: Vectors, about: Vectors, spread: float, floor: float) -> bool:
    """True where one of the texts about skills is near to several sentences of a topic."""
    import numpy as np

    if not len(about) or not len(topic):
        return False
    count = min(SERVED_BY, len(topic))
    nearest = np.sort(topic @ about.T, axis=0)[-count:]
    return bool(nearest.mean(axis=0).max() >= floor + SERVED * spread)


def foreignness(query: NDArray[np.float32], foreign: Vectors) -> float:
    """How near a query is to foreign sentences; minus infinity where there are none."""
    import numpy as np

    if not len(foreign):
        return float("-inf")
    return float(np.sort(foreign @ query)[-NEAREST:].mean())
