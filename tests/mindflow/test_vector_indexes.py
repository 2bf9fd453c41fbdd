"""One contract for every index of vectors: the array, Chroma in a folder, Chroma on a server.

Where a package is not installed its share is skipped.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from flowstudio.mindflow import vectors_chroma  # noqa: E402
from flowstudio.mindflow.vectors import (  # noqa: E402
    ArrayIndex,
    VectorIndex,
    VectorsDown,
    fetch_groups,
    key_of,
)
from flowstudio.mindflow.vectors_chroma import ChromaIndex  # noqa: E402

MODEL = "test-model-1"
A, B, C, D = KEYS = [key_of(MODEL, text) for text in "abcd"]
VECTORS = np.eye(4, 8, dtype=np.float32)
"""Four texts that have nothing to do with each other."""

type Open = Callable[[], VectorIndex]


@pytest.fixture(scope="module")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that `chroma run` started."""
    if importlib.util.find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    command = Path(sys.executable).with_name("chroma")
    call = [command, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    server = subprocess.Popen(
        call, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=2).close()
            break
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, "chroma ended"
            assert time.monotonic() < end, "chroma does not answer"
            time.sleep(0.05)
    yield address
    server.terminate()
    server.wait(10)


@pytest.fixture(params=["array", "chroma folder", "chroma server"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the index again and again, each time as another start of the program would."""
    opened: list[VectorIndex] = []

    def make() -> VectorIndex:
        for one in opened:
            one.close()
        if request.param == "array":
            made: VectorIndex = ArrayIndex(tmp_path / "vectors.npz")
        elif request.param == "chroma folder":
            if importlib.util.find_spec("chromadb") is None:
                pytest.skip("chromadb is not installed")
            made = ChromaIndex(tmp_path / "chroma", MODEL, tmp_path.name)
        else:
            address = request.getfixturevalue("chroma_server")
            made = ChromaIndex(address, MODEL, str(tmp_path))
        opened.append(made)
        return made

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def index(open_index: Open) -> VectorIndex:
    """An index that holds the four texts."""
    made = open_index()
    made.select(KEYS)
    made.put(KEYS, VECTORS)
    return made


def test_a_new_index_misses_everything_and_finds_nothing(open_index: Open) -> None:
    index = open_index()
    assert index.select(KEYS) == KEYS
    assert index.nearest(VECTORS[0], 3) == []


def test_the_nearest_come_first_with_their_inner_product(index: VectorIndex) -> None:
    query = np.array([0.8, 0.6, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    found = index.nearest(query, 2)
    assert [key for key, _ in found] == [A, B]
    assert [near for _, near in found] == pytest.approx([0.8, 0.6], abs=1e-3)


def test_asked_for_more_than_there_are_it_gives_all(index: VectorIndex) -> None:
    assert {key for key, _ in index.nearest(VECTORS[0], 99)} == set(KEYS)


def test_asked_for_none_it_gives_none(index: VectorIndex) -> None:
    assert index.nearest(VECTORS[0], 0) == []


def test_vectors_come_back_in_the_order_of_their_keys(index: VectorIndex) -> None:
    assert np.allclose(index.fetch([C, A, C]), VECTORS[[2, 0, 2]], atol=1e-3)
    assert len(index.fetch([])) == 0


def test_a_key_that_is_not_there_cannot_be_fetched(index: VectorIndex) -> None:
    with pytest.raises(KeyError):
        index.fetch([A, key_of(MODEL, "z")])


def test_only_what_was_selected_is_found(index: VectorIndex) -> None:
    assert index.select([B, C]) == []
    assert {key for key, _ in index.nearest(VECTORS[0], 9)} == {B, C}


def test_another_start_finds_what_was_kept(open_index: Open, index: VectorIndex) -> None:
    index.flush()
    again = open_index()
    assert again.select(KEYS) == []
    assert again.nearest(VECTORS[3], 1)[0] == (D, pytest.approx(1.0, abs=1e-3))


def test_what_was_edited_is_all_that_is_missing(index: VectorIndex) -> None:
    edited = key_of(MODEL, "a, edited")
    assert index.select([edited, B, C, D]) == [edited]
    index.put([edited], VECTORS[:1])
    assert index.nearest(VECTORS[0], 1)[0][0] == edited


def test_putting_a_key_again_replaces_its_vector(index: VectorIndex) -> None:
    index.put([A], VECTORS[1:2])
    assert np.allclose(index.fetch([A]), VECTORS[1:2], atol=1e-3)
    assert len(index.nearest(VECTORS[0], 99)) == 4


def test_thousands_of_vectors_are_taken_at_once(open_index: Open) -> None:
    keys = [key_of(MODEL, str(at)) for at in range(4500)]
    vectors = np.random.default_rng(1).normal(size=(4500, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = open_index()
    assert len(index.select(keys)) == 4500
    index.put(keys, vectors)
    assert index.nearest(vectors[4321], 1)[0][0] == keys[4321]


def test_of_thousands_the_nearest_are_found_and_none_is_passed_over(open_index: Open) -> None:
    chance = np.random.default_rng(1)
    middles = chance.normal(size=(40, 512))
    vectors = middles[chance.integers(0, 40, 3000)] + 1.5 * chance.normal(size=(3000, 512))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors.astype(np.float32)
    keys = [key_of(MODEL, str(at)) for at in range(3000)]
    index = open_index()
    index.select(keys)
    index.put(keys, vectors)
    for query in vectors[::300]:
        best: list[int] = np.argsort(-(vectors @ query))[:300].tolist()
        wanted = {keys[at] for at in best}
        assert len(wanted & {key for key, _ in index.nearest(query, 300)}) >= 299


def test_vectors_of_another_width_take_the_place_of_all(open_index: Open) -> None:
    index = open_index()
    index.select(KEYS)
    index.put(KEYS, VECTORS)
    wider = np.eye(2, 12, dtype=np.float32)
    index.put([A, B], wider)
    assert index.select(KEYS) == [C, D]
    assert {key for key, _ in index.nearest(wider[1], 9)} == {A, B}
    index.flush()
    again = open_index()
    assert again.select(KEYS) == [C, D]
    assert np.allclose(again.fetch([B]), wider[1:], atol=1e-3)


def test_groups_are_fetched_at_once_and_those_that_are_not_whole_left_out(
    index: VectorIndex,
) -> None:
    groups = {"two": [C, A], "none": [], "one": [D]}
    fetched = {name: rows.argmax(axis=1).tolist() for name, rows in fetch_groups(index, groups)}
    assert fetched == {"two": [2, 0], "one": [3]}
    groups["half"] = [A, key_of(MODEL, "z")]
    assert [name for name, _ in fetch_groups(index, groups)] == ["two", "one"]


# ---- what only one of them can do -----------------------------------------------------------


def test_keys_differ_by_model_and_text_and_are_the_same_at_each_start() -> None:
    assert len(A) == 32 and set(A) <= set("0123456789abcdef")
    assert len({key_of("m", "ab"), key_of("ma", "b"), key_of("m", "a"), key_of("n", "ab")}) == 4
    assert key_of("m", "half \ud800") == key_of("m", "half \ud800")


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 not really", b"\x00" * 500, None],
    ids=["empty", "half a zip", "zeros", "cut off"],
)
def test_a_damaged_file_counts_as_empty_and_is_made_anew(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "vectors.npz"
    first = ArrayIndex(path)
    first.select(KEYS)
    first.put(KEYS, VECTORS)
    first.close()
    path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    second = ArrayIndex(path)
    assert second.select(KEYS) == KEYS
    second.put(KEYS, VECTORS)
    second.close()
    assert ArrayIndex(path).select(KEYS) == []


def test_a_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    first = ArrayIndex(path)
    first.put(KEYS, VECTORS)
    first.close()
    content = bytearray(path.read_bytes())
    at = content.index(np.float16(1).tobytes(), len(content) // 2)
    content[at] ^= 0xFF
    path.write_bytes(content)
    assert ArrayIndex(path).select(KEYS) == KEYS


def test_nothing_is_left_beside_the_file_and_it_belongs_to_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "vectors.npz"
    index = ArrayIndex(path)
    index.put(KEYS, VECTORS)
    index.close()
    assert [one.name for one in path.parent.iterdir()] == ["vectors.npz"]
    assert path.stat().st_mode & 0o077 == 0


def test_a_place_that_cannot_be_written_costs_only_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    index = ArrayIndex(tmp_path / "file" / "vectors.npz")
    index.put(KEYS, VECTORS)
    index.close()
    assert index.nearest(VECTORS[0], 1)[0][0] == A


def test_vectors_of_another_library_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    for part in ((A, B), (C, D)):
        index = ArrayIndex(path)
        index.select(part)
        index.put(part, VECTORS[:2])
        index.close()
    assert ArrayIndex(path).select(KEYS) == []


def test_vectors_that_come_bit_by_bit_are_put_together_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    joined: list[int] = []
    join = np.concatenate

    def count(parts: list[Any]) -> Any:
        joined.append(len(parts))
        return join(parts)

    monkeypatch.setattr(np, "concatenate", count)
    index = ArrayIndex(None)
    for key, vector in zip(KEYS, VECTORS, strict=True):
        index.put([key], vector[None])
    assert np.allclose(index.fetch(KEYS), VECTORS)
    assert np.allclose(index.fetch([D, B]), VECTORS[[3, 1]])
    assert joined == [4]


def test_a_chroma_server_that_never_answers_is_down_in_time(
    chroma_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_chroma, "_ANSWERS_IN", 0.1)
    monkeypatch.setattr(vectors_chroma, "_WORKS_FOR", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(VectorsDown, match="start it again"):
            ChromaIndex(f"http://127.0.0.1:{silent.getsockname()[1]}", MODEL)
        # One that falls silent later: its client calls the silent one in its place.
        index: Any = ChromaIndex(chroma_server, MODEL, "silent")
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/api/v2"
        monkeypatch.setattr(index._client._server, "_api_url", address)
        with pytest.raises(VectorsDown, match="gave up"):
            index.put(KEYS, VECTORS)
        index.close()


def test_a_chroma_servers_address_may_name_a_user(chroma_server: str) -> None:
    index = ChromaIndex(chroma_server.replace("//", "//me:word@"), MODEL, "user")
    index.put(KEYS, VECTORS)
    assert index.nearest(VECTORS[0], 1)[0][0] == A
    index.close()


def test_a_chroma_server_that_is_not_there_is_down_with_advice() -> None:
    if importlib.util.find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed")
    with pytest.raises(VectorsDown, match="start it again"):
        ChromaIndex("http://127.0.0.1:9", MODEL)


def test_chroma_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_name: str) -> None: ...

    monkeypatch.setattr(importlib.util, "find_spec", absent)
    with pytest.raises(VectorsDown, match=r"pip install 'flowstudio\[chroma\]'"):
        ChromaIndex("http://127.0.0.1:9", MODEL)
