"""Command line: thin commands that parse, call and render."""

from sagagraph.cli.app import main

__all__ = ["main"]
