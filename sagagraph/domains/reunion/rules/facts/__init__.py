"""Facts that the rules of reunions judge by: the case, who is where and when, what was done, and the part that a slice holds."""
