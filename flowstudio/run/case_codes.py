"""The findings about the test cases of a flow."""

from flowstudio.flow.diagnostics import declare

TESTS_SHAPE = declare(
    "tests-shape",
    "error",
    """The cases under `tests:` (in the front matter or in flow-tests.yaml) are not written as they
    must be: a field is missing, unknown or of the wrong kind. None of the file's cases is run.
    The page on testing (docs/testing.md) lists the fields.""",
)
TESTS_UNKNOWN = declare(
    "tests-unknown",
    "error",
    """A case names a box or a branch that the flow does not have, most likely because the flow was
    changed after the case was written. Boxes go by their id, branches by the label of the
    arrow.""",
)
TESTS_UNREADABLE = declare(
    "tests-unreadable",
    "error",
    """The file with the cases, or a script that a case names, cannot be read.""",
)
