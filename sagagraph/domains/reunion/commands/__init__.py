"""Commands: what reunions add to the command line."""
