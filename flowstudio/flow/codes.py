"""Every code of a finding about a chart: its name, how bad it is, what `explain` says about it.

Importing this module completes `CODES` for this room: the codes of D2 alone stand in `d2_codes`.
"""

from __future__ import annotations

from flowstudio.flow import d2_codes
from flowstudio.flow.diagnostics import CODES, declare

__all__ = ["CODES", "d2_codes"]

# ---- the text -------------------------------------------------------------------------------

CHART_MISSING = declare(
    "chart-missing",
    "error",
    """No flowchart was found. A Mermaid chart begins with a line such as `flowchart TD`; a D2
    chart holds at least one edge, such as `BEGIN -> task`. The smallest flow that runs is
    `BEGIN --> task --> END`.""",
    parse=True,
)
CHART_TYPE = declare(
    "chart-type",
    "error",
    """The text is a diagram, but not a flowchart. Only a flowchart says what comes after what,
    so only a flowchart can be run: a sequence diagram or a class diagram cannot. Redraw it as
    `flowchart TD`, one box for each prompt.""",
    parse=True,
)
SYNTAX = declare(
    "syntax",
    "error",
    """The text breaks the rules of its language here, and more than one thing could be meant,
    so nothing is guessed. The rest of the chart is read all the same, and the findings about it
    hold. The hint names what may stand at this place.""",
    parse=True,
)
LABEL_UNCLOSED = declare(
    "label-unclosed",
    "error",
    """A bracket, a quote or a fence opens a label, and nothing closes it. The place given is
    that of the opening sign, since the fault is usually nearer to it than to the place where a
    reader stumbles. Close it, or put the label in double quotes if it holds brackets of its
    own.""",
    parse=True,
)
LOOSE_SYNTAX = declare(
    "loose-syntax",
    "warning",
    """The official tool refuses to draw this, but it can mean only one thing, and that is how
    it is read. The flow runs. Write it the official way if others shall see the chart on a web
    page.""",
)
LABEL_REPLACED = declare(
    "label-replaced",
    "warning",
    """A node was given two different labels. The last one stands, as the official tools draw
    it, and is the prompt that will be sent. Often two nodes were given the same id by accident:
    then rename one of them.""",
)
MORE_FINDINGS = declare(
    "more-findings",
    "warning",
    """So many findings were made about the text that the rest of them is not listed. Repair the
    first ones; often one fault brings about many others.""",
)
ARROW_LETTER = declare(
    "arrow-letter",
    "warning",
    """An `x` or an `o` stands directly at an arrow, where Mermaid takes it for the arrow's end:
    it draws `A---oven` as a link to `ven` and `A --no--> B` with the label `n`. Put a space
    between the word and the arrow.""",
)
LABEL_CROSSES_LINES = declare(
    "label-crosses-lines",
    "warning",
    """The label of this link goes on over the end of the line, up to the next arrow. That is
    how Mermaid reads it. If the arrow was forgotten instead, write it: `A -- label --> B`.""",
)
SUBGRAPH_NODE = declare(
    "subgraph-node",
    "warning",
    """An edge leads to a subgraph or leaves one. The subgraph is then a node of its own, with
    its title as the prompt: a run does not go into it. Lead the edge to the node inside that is
    meant.""",
)
CHOICE_TAG = declare(
    "choice-tag",
    "warning",
    """A branch is labelled with the `<choice>` tag itself. The tag belongs to the model's
    answer; the flow adds it to the prompt by itself. The words between the tags are read as the
    branch's label; write only these.""",
)

# ---- the graph ------------------------------------------------------------------------------

BEGIN_MISSING = declare(
    "begin-missing",
    "error",
    """No node is labelled BEGIN (in upper or lower case), so nobody knows where the flow
    starts. The label decides, not the id or the shape: `start([BEGIN])` is a begin,
    `BEGIN[Start]` is not.""",
)
BEGIN_REPEATED = declare(
    "begin-repeated",
    "error",
    """More than one node is labelled BEGIN. A flow starts at one place; give the others a
    prompt as their label, or use the same id where one node is meant.""",
)
BEGIN_EXITS = declare(
    "begin-exits",
    "error",
    """BEGIN has several exits. It sends no prompt, so there is nobody who could choose between
    several. Lead BEGIN to a node that asks the question, and branch there.""",
)
BEGIN_STUCK = declare(
    "begin-stuck",
    "error",
    """BEGIN has no exit, so a run would be over before anything was done. Lead BEGIN to the
    first task: `BEGIN --> task`.""",
)
END_MISSING = declare(
    "end-missing",
    "error",
    """No node is labelled END (in upper or lower case), so the flow could never finish. The
    label decides, not the id or the shape: `stop([END])` is an end, `END[Done]` is not.""",
)
END_REPEATED = declare(
    "end-repeated",
    "error",
    """More than one node is labelled END. A flow has one end; lead every way to the same node,
    for instance by using the same id each time.""",
)
END_EXITS = declare(
    "end-exits",
    "error",
    """An edge leaves END. The run is over when it gets there, so nothing can follow. Either the
    edge is drawn the wrong way round, or another node should be the END.""",
)
END_UNREACHABLE = declare(
    "end-unreachable",
    "error",
    """No way leads from BEGIN to END, so the flow could never finish. The finding names where
    the ways from BEGIN stop and what has no way in; the missing edge is usually between these
    two.""",
)
BRANCH_UNLABELLED = declare(
    "branch-unlabelled",
    "error",
    """A node with several exits asks the model to choose one of them by its label, so each
    needs one. Label the exit with the answer that leads along it, as in `check -->|yes| done`.""",
)
BRANCH_REPEATED = declare(
    "branch-repeated",
    "error",
    """Two exits of one node carry the same label, so an answer could not be told from the
    other. Give each exit its own label, or lead one edge to a node that both ways share.""",
)
NODE_UNREACHABLE = declare(
    "node-unreachable",
    "warning",
    """Nothing leads from BEGIN to this node, so its prompt is never sent. An edge to it was
    forgotten, or its id is misspelt in the edge that should lead here: a new id makes a new
    node.""",
)
DEAD_END = declare(
    "dead-end",
    "warning",
    """A node other than END has no exit. A run that comes here cannot go on and stops with an
    error. Lead it on, to END if nothing is left to do.""",
)
LOOP_ENDLESS = declare(
    "loop-endless",
    "warning",
    """These nodes lead only to each other. A run that enters the loop never gets out of it and
    is stopped by the limit on moves. Give one of the nodes an exit that leads towards END.""",
)
BRANCHES_ALIKE = declare(
    "branches-alike",
    "warning",
    """Two exits of one node have labels that differ only in case or space. The flow runs, but a
    model that writes the answer a little differently cannot be understood. Use words that
    differ.""",
)
BRANCH_AWKWARD = declare(
    "branch-awkward",
    "warning",
    """The model must repeat a branch's label letter by letter to choose it. A label that is
    very long, has several lines or holds `<` will often come back changed. Put the explanation
    into the node's own label and keep the branch to a few words.""",
)
EXIT_LABEL_IGNORED = declare(
    "exit-label-ignored",
    "warning",
    """A node with a single exit has nothing to choose, so the label on that exit is not used:
    neither as a condition nor as a part of the prompt. Either a second exit is missing, or the
    label is only a note for readers.""",
)
LABEL_EMPTY = declare(
    "label-empty",
    "warning",
    """A node's label is the prompt that is sent to the model, and this one is empty. Write what
    is to be done here.""",
)

GRAPH_GAPS = frozenset(
    {
        BEGIN_MISSING,
        BEGIN_STUCK,
        END_MISSING,
        END_UNREACHABLE,
        NODE_UNREACHABLE,
        DEAD_END,
        LOOP_ENDLESS,
        EXIT_LABEL_IGNORED,
    }
)
"""What a lost statement alone can bring about: said only where the whole text could be read."""
