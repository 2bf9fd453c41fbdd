"""Which skill serves a goal: the library as a graph, search, scoring, planning. No screen."""
