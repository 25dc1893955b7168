"""The CP-SAT model of a reunion: one sequence of steps."""
