"""Planning of trips: market, search, repair, and why a wish cannot be met."""
