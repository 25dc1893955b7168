"""Turn of a coordinator: what has arrived, what is committed together, who waits for what."""
