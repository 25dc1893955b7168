"""`python -m sagagraph` is the command `sagagraph`."""

from sagagraph.cli import main

main()
