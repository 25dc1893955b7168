"""The reservation service: its port, its HTTP adapter, what it answers."""
