"""Commands: what recipes add to the command line."""
