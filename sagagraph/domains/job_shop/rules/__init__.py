"""One rule of a schedule, one function; a fault is reported once, at its own row."""
