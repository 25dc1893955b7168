"""The sandbox reservation service: it stands in for airlines, hotels, railways and the bank.

A separate program that knows nothing of sagas: their ids are opaque labels that its ledger returns. docs/sandbox-api.md is
its interface. Importing this package loads nothing; `sagagraph.sandbox.server` runs the service.
"""
