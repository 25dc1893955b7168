"""Builder: the name that `sagagraph.graph.saga_graph` had in release 0.2.0, for programs that import it from here."""

from sagagraph.graph.saga_graph import READING, SagaGraph

__all__ = ["READING", "SagaGraph"]
