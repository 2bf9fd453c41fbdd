"""Writes the drawings of all shapes into this folder. Look at each of them before you commit."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from flowstudio.drawing import draw  # noqa: E402
from tests.drawing.charts import SHAPES  # noqa: E402

if __name__ == "__main__":
    for name, chart in SHAPES.items():
        (HERE / f"{name}.txt").write_text(draw(chart).text(), encoding="utf-8")
    across = draw(SHAPES["review_pipeline"], direction="LR").text()
    (HERE / "review_pipeline_LR.txt").write_text(across, encoding="utf-8")
