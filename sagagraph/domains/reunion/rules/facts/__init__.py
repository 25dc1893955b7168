"""Facts by which the rules of reunions judge: the case, who is where and when, what was done, and the part that a slice holds."""
