"""The judge of days as release 0.3 had it: every check on the whole day. The scoped validators must say what it says."""
