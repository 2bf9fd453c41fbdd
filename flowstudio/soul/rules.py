"""What one turn may use: another model, and only some of the tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The limits of a turn."""

    tools: frozenset[str] | None = None
    """The names of the tools that it may use; None: all that the agent has."""
    model: str | None = None
    """The model that answers; None: the session's."""

    def allows(self, tool: str) -> bool:
        """True where the turn may use this tool."""
        return self.tools is None or tool in self.tools

    def explain(self, tool: str) -> str:
        """A sentence for the model about a tool that it may not use."""
        names = ", ".join(sorted(self.tools or ())) or "none"
        return f"{tool} may not be used here; the tools for this step are: {names}."


NO_RULES = TurnRules()
