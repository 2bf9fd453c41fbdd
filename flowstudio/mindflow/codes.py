"""Every code of a finding about planning fields and methodologies; all are warnings."""

from __future__ import annotations

from flowstudio.flow.diagnostics import declare

PLANNING_FIELD = declare(
    "planning-field",
    "warning",
    """A field that helps to find or to plan (preconditions, effects, called_skills, artifact,
    utterances, methodology_scores) holds something else than names, or a score that is no number
    from 0 to 1. What can be used of it is used; the skill can be found and run all the same.""",
)
CALLED_SKILL_UNKNOWN = declare(
    "called-skill-unknown",
    "warning",
    """`called_skills` names a skill that is not there. The agent will not be able to use it, and no
    line leads to it in the graph of the library. Perhaps it was renamed, or is installed
    elsewhere.""",
)
METHODOLOGY_UNKNOWN = declare(
    "methodology-unknown",
    "warning",
    """`methodology_scores` gives a score for a methodology that no file defines, so the score does
    not count. Methodologies stand in methodologies.yaml or methodologies/*.yaml beside the
    skills.""",
)
METHODOLOGY_FIELD = declare(
    "methodology-field",
    "warning",
    """A methodology's file cannot be read, or one of its fields is missing or odd. A methodology is
    a mapping with id, name, description, evaluation_rule and a weight from 0 to 1; without a
    usable weight it counts as 1, without an id it is left out.""",
)
STATES_FILE = declare(
    "states-file",
    "warning",
    """states.yaml, which says what the states of the library mean, cannot be read, or an entry is
    not a text. States need no entry to be used.""",
)
PHRASES_FILE = declare(
    "phrases-file",
    "warning",
    """phrases.yaml, which holds more of what people say when they want a skill, cannot be read, or
    an entry is neither a list of texts nor one for each language. What is a text is used.""",
)
