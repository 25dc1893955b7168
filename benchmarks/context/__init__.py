"""How a validator's slice, and what it costs to choose it, grow with the history behind it."""
