"""Servers of the app that are killed, stopped and started again while visitors do everything; an outside ledger judges."""
