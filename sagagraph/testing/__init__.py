"""Tools that break sagas on purpose: point them at your own with `python -m sagagraph.testing`."""
