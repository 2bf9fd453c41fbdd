"""One contract for every store of the library's graph: in memory, and over Bolt.

The Bolt/Cypher server is the one of the package `arcadedb-embedded`; where it is not installed its
share is skipped.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flowstudio.mindflow.graph import (
    MOST_SIBLINGS,
    Edge,
    GraphDown,
    GraphStore,
    Node,
    Snapshot,
    snapshot,
)
from flowstudio.mindflow.graph_bolt import BoltGraph
from flowstudio.mindflow.graph_memory import MemoryGraph
from flowstudio.mindflow.model import LibrarySkill, Methodology
from tests.mindflow import bolt
from tests.mindflow.libraries import big_library, data_library, library_of


@pytest.fixture(scope="module")
def bolt_server() -> Iterator[str]:
    """The address of a Bolt/Cypher server in this process, on loopback."""
    with bolt.serve() as address:
        if not address:
            pytest.skip("arcadedb-embedded or neo4j is not installed")
        yield address


type Open = Callable[[str], GraphStore]


@pytest.fixture(params=["memory", "bolt"])
def open_store(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens the store of a library, by the library's name."""
    opened: list[GraphStore] = []
    address = request.getfixturevalue("bolt_server") if request.param == "bolt" else ""

    def make(library: str) -> GraphStore:
        store = BoltGraph(address, bolt.USER, bolt.PASSWORD, library) if address else MemoryGraph()
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> GraphStore:
    """A store that holds the library of data work."""
    made = open_store("data")
    made.load(snapshot(data_library()))
    return made


def test_a_skill_has_a_line_to_all_it_calls_needs_produces_scores_and_yields(
    store: GraphStore,
) -> None:
    csv = Node("skill", "csv")
    assert store.neighbours(csv) == tuple(
        sorted(
            [
                Edge(csv, Node("skill", "file-io"), "calls"),
                Edge(csv, Node("state", "has_csv_file"), "requires"),
                Edge(csv, Node("state", "has_dataframe"), "produces"),
                Edge(csv, Node("methodology", "meth_simple"), "scores", 0.9),
                Edge(csv, Node("methodology", "meth_stdlib"), "scores", 0.75),
                Edge(csv, Node("artifact", "csv/scripts/look.py"), "yields"),
                Edge(Node("skill", "cleaning"), csv, "calls"),
            ]
        )
    )


def test_siblings_keep_to_the_same_methodologies_and_the_likest_comes_first(
    store: GraphStore,
) -> None:
    found = store.siblings("csv")
    # cleaning: 0.8 · min(0.9, 0.8); charts: 0.8 · 0.7; file-io: 0.4 · 0.75, simple counts not.
    assert [(one.skill, pytest.approx(one.likeness)) for one in found] == [
        ("cleaning", 0.64),
        ("charts", 0.56),
        ("file-io", 0.3),
    ]


@pytest.mark.parametrize(
    ("question", "skill", "expected"),
    [
        ("callees", "cleaning", ("csv", "file-io")),
        ("callees", "diary", ()),
        ("callers", "file-io", ("cleaning", "csv")),
        ("callers", "cleaning", ()),
        ("upstream", "cleaning", ("csv",)),
        ("upstream", "csv", ()),
        ("downstream", "cleaning", ("charts",)),
        ("downstream", "charts", ()),
    ],
)
def test_calls_and_states_lead_to_other_skills(
    store: GraphStore, question: str, skill: str, expected: tuple[str, ...]
) -> None:
    assert getattr(store, question)(skill) == expected


def test_surroundings_give_each_node_its_distance_and_all_lines_between_them(
    store: GraphStore,
) -> None:
    around = store.within(Node("state", "has_clean_data"), 1)
    cleaning, charts = Node("skill", "cleaning"), Node("skill", "charts")
    clean = Node("state", "has_clean_data")
    assert around.distances == {clean: 0, charts: 1, cleaning: 1}
    assert around.edges == (Edge(charts, clean, "requires"), Edge(cleaning, clean, "produces"))
    further = store.within(clean, 2)
    assert further.distances[Node("skill", "csv")] == 2
    # Both ends lie in the outermost ring.
    assert Edge(Node("skill", "csv"), Node("skill", "file-io"), "calls") in further.edges


def test_a_walk_comes_to_a_methodology_and_does_not_go_through_it(store: GraphStore) -> None:
    simple, charts = Node("methodology", "meth_simple"), Node("skill", "charts")
    around = store.within(Node("skill", "csv"), 2)
    assert around.distances[simple] == 1
    # Both score under it, and nothing else joins them within two hops but this methodology.
    assert Edge(charts, simple, "scores", 0.7) in store.neighbours(simple)
    assert charts not in around.distances
    # One hop further it is met over a state that it needs, and its line is shown then.
    further = store.within(Node("skill", "csv"), 3)
    assert further.distances[charts] == 3
    assert Edge(charts, simple, "scores", 0.7) in further.edges


def test_a_walk_that_begins_at_a_methodology_goes_on_from_its_skills(store: GraphStore) -> None:
    around = store.within(Node("methodology", "meth_stdlib"), 2)
    assert around.distances[Node("skill", "file-io")] == 1
    assert around.distances[Node("state", "has_clean_data")] == 2
    assert around.distances[Node("methodology", "meth_simple")] == 2
    assert Node("skill", "charts") not in around.distances


def test_no_hops_lead_nowhere(store: GraphStore) -> None:
    around = store.within(Node("skill", "csv"), 0)
    assert (around.distances, around.edges) == ({Node("skill", "csv"): 0}, ())


def test_a_name_that_is_not_there_has_nothing_around_it(store: GraphStore) -> None:
    nobody = Node("skill", "nobody")
    assert store.neighbours(nobody) == ()
    assert store.siblings("nobody") == store.callers("nobody") == store.upstream("nobody") == ()
    assert store.within(nobody, 3).distances == {}


def test_names_of_any_script_and_with_any_signs_are_names_like_others(open_store: Open) -> None:
    names = ["数据清洗", 'it\'s "quoted" `x` \\ {id: 1}', "a/b\nc", "DETACH DELETE n //", "😀"]
    skills = [
        LibrarySkill(name, called_skills=tuple(names[:at]), effects=(f"{name} done",))
        for at, name in enumerate(names)
    ]
    store = open_store("odd")
    store.load(snapshot(library_of(*skills)))
    assert store.callees("😀") == tuple(sorted(names[:-1]))
    assert store.neighbours(Node("state", "数据清洗 done"))[0].src.id == "数据清洗"


def test_a_store_holds_exactly_the_last_graph_that_it_was_given(open_store: Open) -> None:
    library = data_library()
    store = open_store("changing")
    store.load(snapshot(library))
    changed = replace(library.skills["csv"], called_skills=(), effects=("has_table",))
    store.load(snapshot(replace(library, skills={**library.skills, "csv": changed})))
    assert store.callees("csv") == ()
    assert store.upstream("cleaning") == ()
    assert store.within(Node("state", "has_dataframe"), 1).distances.keys() == {
        Node("state", "has_dataframe"),
        Node("skill", "cleaning"),
    }


def test_libraries_that_share_a_place_do_not_see_each_other(open_store: Open) -> None:
    one, other = open_store("one"), open_store("other")
    one.load(snapshot(data_library()))
    other.load(snapshot(library_of(LibrarySkill("csv"))))
    assert one.callers("file-io") == ("cleaning", "csv")
    assert other.neighbours(Node("skill", "csv")) == ()


def test_of_many_siblings_the_likest_hundred_are_given(open_store: Open) -> None:
    way = Methodology("meth_way", weight=0.5)
    skills = [
        LibrarySkill(f"s{at}", methodology_scores={"meth_way": 0.7 + at / 1000})
        for at in range(MOST_SIBLINGS + 50)
    ]
    store = open_store("many")
    store.load(snapshot(library_of(*skills, methodologies=(way,))))
    found = store.siblings("s149")
    assert [one.skill for one in found] == [f"s{at}" for at in range(148, 48, -1)]


def test_an_empty_graph_can_be_asked(open_store: Open) -> None:
    store = open_store("empty")
    store.load(Snapshot())
    assert store.siblings("csv") == ()


def test_all_stores_answer_alike_on_a_large_library(open_store: Open) -> None:
    library = big_library(60)
    judge, store = MemoryGraph(), open_store("large")
    judge.load(snapshot(library))
    store.load(snapshot(library))
    for name in list(library.skills)[::11]:
        node = Node("skill", name)
        assert store.neighbours(node) == judge.neighbours(node)
        assert store.siblings(name) == judge.siblings(name)
        assert store.upstream(name) == judge.upstream(name)
        assert store.within(node, 3) == judge.within(node, 3)


# ---- what only one of them can do -----------------------------------------------------------


def test_called_skills_that_are_not_there_have_no_node() -> None:
    graph = snapshot(library_of(LibrarySkill("a", called_skills=("ghost", "a"))))
    assert graph == Snapshot((Node("skill", "a"),))


def test_a_server_that_is_not_there_is_down_with_advice() -> None:
    if importlib.util.find_spec("neo4j") is None:
        pytest.skip("neo4j is not installed")
    with pytest.raises(GraphDown, match=r"does not answer; start it again"):
        BoltGraph(f"bolt://127.0.0.1:{bolt.free_port()}")


def test_a_second_process_finds_the_graph_that_the_server_holds(bolt_server: str) -> None:
    graph = snapshot(data_library())
    first = BoltGraph(bolt_server, bolt.USER, bolt.PASSWORD, "shared")
    first.load(graph)
    first.close()
    second = BoltGraph(bolt_server, bolt.USER, bolt.PASSWORD, "shared")
    written: list[str] = []
    second._write = lambda *_: written.append("again")  # pyright: ignore
    second.load(graph)
    assert written == []
    assert second.callers("csv") == ("cleaning",)
    second.close()


def test_a_server_that_goes_away_is_down_and_raises_nothing_else(
    bolt_server: str, tmp_path: Path
) -> None:
    store = BoltGraph(bolt_server, bolt.USER, bolt.PASSWORD, "gone")
    store.close()
    with pytest.raises(GraphDown):
        store.callers("csv")
