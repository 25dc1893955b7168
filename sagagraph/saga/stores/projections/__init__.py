"""Projections of a journal: S_A, S_O and S_D of SagaLLM as rows. Nothing that runs a saga reads them."""

from sagagraph.saga.stores.projections.projection import Projection, project

__all__ = ["Projection", "project"]
