"""The sandbox reservation service: stands where airlines, hotels, railways and the bank stand.

A program of its own that knows nothing of sagas: their ids are opaque labels that its ledger gives back. docs/sandbox-api.md is
its interface. Importing this package loads nothing; `sagagraph.sandbox.server` runs the service.
"""
