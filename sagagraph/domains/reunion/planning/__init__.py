"""Planning of reunions: solver, repair, conflicts and alternatives."""
