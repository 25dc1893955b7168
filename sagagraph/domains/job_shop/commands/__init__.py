"""Commands: what job shops add to the command line."""
