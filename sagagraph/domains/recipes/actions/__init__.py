"""Actions: what a kitchen does for a plan, kept in its ledger."""
