"""The judge of schedules as release 0.3 had it: one case, shown whole. The scoped validators must say what it says."""
