"""The engine: the effectful shell around the pure core, with its actions, calls, leases and coordinator."""
