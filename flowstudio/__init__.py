"""Flow Studio: read, draw, run and debug agent flows in the terminal."""

__version__ = "0.1.0"
