"""The soul and its flows for editors that speak ACP (Agent Client Protocol), such as Zed.

A front end like the studio: it consumes the events of a session's wire, gives commands to its
control, and knows nothing of how a turn is run.
"""
