"""What the user is at: recent topics and the project, and how much they speak for a skill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flowstudio.mindflow.lexical import keywords, terms
from flowstudio.mindflow.model import LibrarySkill

MOST_TOPICS = 10
MOST_BOOST = 0.5
_TOPICS_SHARE = 0.7
_ENOUGH = 3
"""Topics that a skill must share to get all that topics can give."""


@dataclass(frozen=True, slots=True)
class Context:
    """The last keywords, the newest last, and the project's name."""

    recent_topics: tuple[str, ...] = ()
    current_project: str = ""

    @classmethod
    def of(cls, topics: Iterable[str], project: str = "") -> Context:
        """From keywords or whole sentences: the last ten keywords, each once."""
        words: dict[str, None] = {}
        for topic in topics:
            for word in keywords(topic):
                words.pop(word, None)  # said again, it is new again
                words[word] = None
        return cls(tuple(words)[-MOST_TOPICS:], project)


@dataclass(frozen=True, slots=True)
class Boost:
    """What the context adds, and for what."""

    value: float = 0.0
    """0 to `MOST_BOOST`."""
    topics: tuple[str, ...] = ()
    project: str = ""


def boost_skill(skill: LibrarySkill, context: Context, nearness: float = 1.0) -> Boost:
    """The boost of a skill that shares topics with the context or belongs to its project.

    `nearness`, 0 to 1, is how near its similarity comes to the best one's: context decides between
    skills that fit about as well, it does not bring in one that does not fit.
    """
    if not context.recent_topics and not context.current_project:
        return Boost()
    words = set(terms(" ".join((skill.name, skill.title, skill.description, *skill.utterances))))
    shared = tuple(topic for topic in context.recent_topics if words.intersection(terms(topic)))
    project = context.current_project
    is_of_project = bool(project) and bool(words.intersection(terms(project)))
    share = _TOPICS_SHARE * min(len(shared) / _ENOUGH, 1.0)
    share += (1 - _TOPICS_SHARE) * is_of_project
    value = MOST_BOOST * share * min(max(nearness, 0.0), 1.0)
    return Boost(value, shared, project if is_of_project else "")
