"""World: its cities, and what is on offer between and in them. The same question always has the same answer."""
