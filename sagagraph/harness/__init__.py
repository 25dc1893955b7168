"""Harnesses: rules over numbers as an asset, judged exactly; proofs if no artifact can satisfy them (CAAF)."""
