"""Loop: executors that propose values, gradients that say how far off they are, locks, and its five outcomes."""
