"""Models that propose plans: the clients, what a model may choose, the rounds of proposal and verdict."""
