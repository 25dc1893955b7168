"""Makes the tables of the sandbox's world (`sagagraph/sandbox/atlas/`) from GeoNames and a list of airports: `python -m atlas`.

The tables are kept, because the world must stay the same when its sources are updated: offers and saved trips name it.
"""
