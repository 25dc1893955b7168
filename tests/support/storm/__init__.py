"""Random sagas, workers that are killed and stopped, and a ledger that judges what became of it."""
