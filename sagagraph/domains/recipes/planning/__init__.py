"""Planning: when each step is worked at, so that the meal is complete as early as possible."""
