"""Builder: what release 0.2.0 called `sagagraph.graph.saga_graph`, for programs that import it from here."""

from sagagraph.graph.saga_graph import READING, SagaGraph

__all__ = ["READING", "SagaGraph"]
