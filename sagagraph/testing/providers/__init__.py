"""Provider contract: what an adapter of `ReservationProvider` must do, as checks that run on any adapter (docs/providers.md).

`contract.ProviderContract` is the suite for pytest. It alone imports pytest, which SagaGraph itself does not need.
"""

from sagagraph.testing.providers.bench import Bench, Journey, Stay

__all__ = ["Bench", "Journey", "Stay"]
