"""Fruit from a market: the cheapest stalls that sell all that is wished for."""
