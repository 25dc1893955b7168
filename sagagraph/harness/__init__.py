"""Harnesses: rules over numbers as an asset, judged exactly; proofs where no artifact can satisfy them (CAAF)."""
