"""Running: a graph's invocations, nodes and interrupts as operations of a saga."""
