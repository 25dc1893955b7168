"""Commands about harnesses: their verdicts and proofs, their life, and their words."""
