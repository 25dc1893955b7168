"""The projections: application, operation and dependency state, rebuilt from the journals at any time.

They are made as this release defines them: a later migration that changes one makes all of them anew, with nothing to carry over.
"""

from __future__ import annotations

from alembic import op

from sagagraph.saga.stores.projections.tables import DEFINITIONS

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for definition in DEFINITIONS.values():
        definition.table.create(op.get_bind())
