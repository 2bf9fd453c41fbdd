"""Charts for the drawing tests: a small notation, typical shapes, and seeded random charts."""

from __future__ import annotations

import random
from itertools import pairwise

from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Direction, FlowEdge, FlowNode, find_kind


def chart(text: str, labels: dict[str, str] | None = None, direction: Direction = "TD") -> Chart:
    """A chart from lines such as `A -> B -> C`, `A -> B | label`, or `A` alone for a node."""
    labels = labels or {}
    ids: dict[str, None] = {}
    edges: list[FlowEdge] = []
    for line in text.strip().splitlines():
        chain, _, label = line.partition("|")
        names = [name.strip() for name in chain.split("->")]
        ids.update(dict.fromkeys(names))
        for src, dst in pairwise(names):
            edges.append(FlowEdge(src, dst, label.strip() or None))
    return build(list(ids), edges, labels, direction)


def build(
    ids: list[str],
    edges: list[FlowEdge],
    labels: dict[str, str] | None = None,
    direction: Direction = "TD",
) -> Chart:
    """A chart of these nodes and edges; a node's label is its id where none is given."""
    labels = labels or {}
    exits = dict.fromkeys(ids, 0)
    for edge in edges:
        exits[edge.src] += 1
    nodes = {i: FlowNode(i, labels.get(i, i), find_kind(labels.get(i, i), exits[i])) for i in ids}
    return Chart("mermaid", nodes, tuple(edges), (), direction)


_WORDS = [
    *("read", "check", "the", "list", "find", "note", "fix", "test", "build", "plan"),
    *("ship", "review", "draft", "ask", "run", "检查", "报告"),
]
_LABELS = [
    None,
    None,
    None,
    "yes",
    "no",
    "needs work",
    "try again later",
    "通过",
    "a rather long reason that wraps",
]


def random_chart(seed: int, most: int = 14) -> Chart:
    """A chart without structure: up to `most` nodes, up to 1.8 edges each, loops of all kinds."""
    rng = random.Random(seed)
    count = rng.randint(1, most)
    ids = [f"n{i}" for i in range(count)]
    labels = {i: f"{i} " + " ".join(rng.choices(_WORDS, k=rng.randint(0, 9))) for i in ids}
    edges = []
    for _ in range(rng.randint(0, round(count * rng.choice([1.0, 1.3, 1.8])))):
        src, dst = rng.choice(ids), rng.choice(ids)
        edges.append(FlowEdge(src, dst, rng.choice(_LABELS)))
    return build(ids, edges, labels)


def program_chart(seed: int, count: int) -> Chart:
    """A chart like a program: sequences, branches that join, and loops back, some `count` nodes."""
    rng = random.Random(seed)
    ids = ["BEGIN"]
    edges: list[FlowEdge] = []

    def new() -> str:
        ids.append(f"s{len(ids)}")
        return ids[-1]

    ends: list[tuple[str, str | None]] = [("BEGIN", None)]
    trail = ["BEGIN"]
    while len(ids) < count:
        node = new()
        edges.extend(FlowEdge(src, node, label) for src, label in ends)
        trail.append(node)
        match rng.randrange(6):
            case 0 | 1 | 2:
                ends = [(node, None)]
            case 3:
                ends = []
                for label in ("yes", "no", "unclear")[: rng.randint(2, 3)]:
                    branch = new()
                    edges.append(FlowEdge(node, branch, label))
                    ends.append((branch, None))
            case 4:
                back = rng.choice(trail[-6:][1:] or [node])
                edges.append(FlowEdge(node, back, "again"))
                ends = [(node, "go on")]
            case _:
                fix = new()
                edges.append(FlowEdge(node, fix, "broken"))
                edges.append(FlowEdge(fix, node, None))
                ends = [(node, "fine")]
    ids.append("END")
    edges.extend(FlowEdge(src, "END", label) for src, label in ends)
    labels = {i: f"{i} " + " ".join(rng.choices(_WORDS, k=rng.randint(1, 5))) for i in ids[1:-1]}
    return build(ids, edges, labels)


def layered_chart(seed: int, layers: int, breadth: int, edges_each: float) -> Chart:
    """Nodes in layers, each with edges to the next layer."""
    rng = random.Random(seed)
    rows = [[f"r{r}c{c}" for c in range(breadth)] for r in range(layers)]
    edges = []
    for upper, lower in pairwise(rows):
        for node in upper:
            for _ in range(max(1, round(rng.random() * 2 * edges_each))):
                edges.append(FlowEdge(node, rng.choice(lower), None))
    return build([i for row in rows for i in row], edges)


def sparse_chart(seed: int, nodes: int, edges: int) -> Chart:
    """So many nodes and so many edges between any two of them, some with labels."""
    rng = random.Random(seed)
    ids = [f"n{i}" for i in range(nodes)]
    return build(
        ids,
        [
            FlowEdge(rng.choice(ids), rng.choice(ids), rng.choice([None, None, "yes", "no maybe"]))
            for _ in range(edges)
        ],
    )


SHAPES: dict[str, Chart] = {
    "line": chart("BEGIN -> read -> write -> END"),
    "decision": chart("BEGIN -> ok?\nok? -> ship | yes\nok? -> fix | no\nship -> END"),
    "decision_with_merge": chart(
        "BEGIN -> q\nq -> left | yes\nq -> right | no\nleft -> join\nright -> join\njoin -> END",
        {"q": "Is there a test?", "left": "Run the test", "right": "Write one", "join": "Commit"},
    ),
    "loop_back": chart(
        "BEGIN -> B -> C\nC -> D | Yes\nC -> E | No\nE -> B\nD -> END",
        {
            "B": "Analyze the changes",
            "C": "Is code quality ok?",
            "D": "Write the report",
            "E": "List the issues",
        },
    ),
    "nested_loops": chart(
        "BEGIN -> plan -> code -> test\ntest -> code | red\ntest -> review | green\n"
        "review -> plan | start over\nreview -> code | small fixes\nreview -> END | approved",
        {
            "plan": "Make a plan",
            "code": "Write the code",
            "test": "Run the tests",
            "review": "Ask for a review",
        },
    ),
    "ralph": chart(
        "BEGIN -> R1 -> R2\nR2 -> R2 | CONTINUE\nR2 -> END | STOP",
        {"R1": "Do the task", "R2": "Is the task complete?"},
    ),
    "self_loops": chart(
        "BEGIN -> A\nA -> A | one\nA -> A | two\nA -> A\nA -> END | out",
        {"A": "Wait for the build"},
    ),
    "parallel": chart(
        "BEGIN -> A\nA -> B | fast\nA -> B | slow\nA -> B\nB -> END",
        {"A": "Choose a way", "B": "Arrive"},
    ),
    "three_ways": chart(
        "BEGIN -> q\nq -> a | red\nq -> b | green\nq -> c | blue\na -> END\nb -> END\nc -> END",
        {"q": "Which colour?"},
    ),
    "six_ways": chart(
        "BEGIN -> q\n"
        + "\n".join(
            f"q -> {n} | {label}\n{n} -> END"
            for n, label in zip(
                "abcdef", ["bug", "feature", "question", "docs", "spam", "other"], strict=True
            )
        ),
        {
            "q": "What kind of issue is this?",
            "a": "Reproduce",
            "b": "Estimate",
            "c": "Answer",
            "d": "Edit",
            "e": "Close",
            "f": "Triage by hand",
        },
    ),
    "nested_decisions": chart(
        "BEGIN -> q1\nq1 -> q2 | yes\nq1 -> q3 | no\nq2 -> a | yes\nq2 -> b | no\n"
        "q3 -> b | yes\nq3 -> c | no\na -> END\nb -> END\nc -> END",
        {
            "q1": "Is it red?",
            "q2": "Is it round?",
            "q3": "Is it soft?",
            "a": "Apple",
            "b": "Brick",
            "c": "Cushion",
        },
    ),
    "long_labels": chart(
        "BEGIN -> A -> B\nB -> A | the numbers do not add up and must be collected again\n"
        "B -> END | fine",
        {
            "A": "Collect the numbers of the last week from every team, with their source.\n"
            "Unknown is a fine answer; a guess is not.\n- errors\n- latency\n- cost",
            "B": "Do they add up? Compare with the week before and with the plan of the quarter.",
        },
    ),
    "cjk_and_emoji": chart(
        "BEGIN -> 收集 -> 检查\n检查 -> 收集 | 不一致\n检查 -> 发布 | 一致 🎉\n发布 -> END",
        {
            "收集": "列出要翻译的 Markdown 文件",
            "检查": "两边的结构一致吗？🤔",
            "发布": "发布 ❤️ naïve café",
        },
    ),
    "unicode_ids": chart(
        "BEGIN -> señal -> Ελπίδα\nΕλπίδα -> señal | ¿otra vez?\nΕλπίδα -> ж2 | да\n"
        "ж2 -> 终点_1 -> END",
        {"señal": "Esperar la señal", "Ελπίδα": "Όλα καλά;"},
    ),
    "skipping": chart(
        "BEGIN -> A -> B -> C -> D -> END\nA -> C | skip\nA -> D | far\nBEGIN -> END"
    ),
    "apart": chart("BEGIN -> A -> END\nX -> Y\nY -> X | back\nalone"),
    "review_pipeline": chart(
        "BEGIN -> fetch -> scope -> size\nsize -> split | too large\nsize -> build | fine\n"
        "split -> build\nbuild -> lint -> unit -> green\ngreen -> fix | red\nfix -> build\n"
        "green -> correctness | green\ncorrectness -> tests -> naming -> verdict\n"
        "verdict -> revise | needs work\nrevise -> lint\nverdict -> docs | good\n"
        "docs -> changelog -> final\nfinal -> correctness | not yet\nfinal -> merge | yes\n"
        "merge -> END",
        {
            "fetch": "Fetch the branch",
            "scope": "Find its purpose",
            "size": "One change?",
            "split": "List the parts",
            "build": "Build it",
            "lint": "Run the linter",
            "unit": "Run the tests",
            "green": "All green?",
            "fix": "Fix it",
            "correctness": "Pass 1: logic",
            "tests": "Pass 2: tests",
            "naming": "Pass 3: naming",
            "verdict": "Good enough?",
            "revise": "Revise the code",
            "docs": "Check the docs",
            "changelog": "Add to changelog",
            "final": "Ready to merge?",
            "merge": "Merge",
        },
    ),
    "single": chart("BEGIN"),
    "two_loops_one_target": chart(
        "BEGIN -> step -> run\nrun -> step | again\nrun -> look | ok\nlook -> step | more\n"
        "look -> END | done"
    ),
}

CROSSING_CASES = {
    **{f"shape {name}": (lambda name=name: SHAPES[name]) for name in SHAPES if name != "single"},
    **{f"random {seed}": (lambda seed=seed: random_chart(seed, 30)) for seed in range(200)},
    **{f"program {seed}": (lambda seed=seed: program_chart(seed, 60)) for seed in range(40)},
    **{
        f"layered {seed}": (lambda seed=seed: layered_chart(seed, 10, 6, 1.0 + seed % 3 * 0.3))
        for seed in range(30)
    },
    **{f"dense {seed}": (lambda seed=seed: sparse_chart(seed, 30, 60)) for seed in range(40)},
    "large program 200": lambda: program_chart(1, 200),
    "large random 200": lambda: sparse_chart(1, 200, 260),
    "large program 1000": lambda: program_chart(1, 1_000),
    "large random 1000": lambda: sparse_chart(1, 1_000, 1_300),
    "large program 5000": lambda: program_chart(1, 5_000),
}
"""Charts whose crossings are compared with those of Graphviz dot."""
