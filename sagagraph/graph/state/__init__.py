"""State of a graph as the journal keeps it: values, outputs, off-loaded items."""
