"""What one turn may use: another model, and only some of the tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The limits of a turn."""

    tools: frozenset[str] | None = None
    """The names of the tools that it may use, `SERVER__*` for all of an MCP server; None: all that
    the agent has."""
    model: str | None = None
    """The model that answers; None: the session's."""

    def allows(self, tool: str) -> bool:
        """True where the turn may use this tool."""
        if self.tools is None or tool in self.tools:
            return True
        # All tools of an MCP server: `issues__*`.
        return any(one.endswith("*") and tool.startswith(one[:-1]) for one in self.tools)

    def explain(self, tool: str) -> str:
        """A sentence for the model about a tool that it may not use."""
        names = ", ".join(sorted(self.tools or ())) or "none"
        return f"{tool} may not be used here; the tools for this step are: {names}."


NO_RULES = TurnRules()
