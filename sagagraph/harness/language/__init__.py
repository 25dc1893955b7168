"""Language: assertions as trees, their kinds and their units. Python never evaluates any of it."""
