"""The sandbox reservation service, which stands in for airlines, hotels, railways and the bank.

It is a separate program that knows nothing of sagas: their ids are opaque labels that its ledger returns. docs/sandbox-api.md
describes its interface. Importing this package loads nothing; `sagagraph.sandbox.server` runs the service.
"""
