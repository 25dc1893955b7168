"""Testing tools that break sagas on purpose: run them on your own with `python -m sagagraph.testing`."""
