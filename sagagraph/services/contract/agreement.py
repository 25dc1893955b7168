"""Agreement: a pivot without an effect, behind which the contract tries what must come after one."""

from __future__ import annotations

from datetime import timedelta

from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Guarantees, action
from sagagraph.services.service import FOREVER


@action(kind="pivot", guarantees=Guarantees(dedup=FOREVER, settles=timedelta(0), here=True), name="contract.agree")
async def agree(request: str, call: Call) -> str:  # noqa: ARG001 - the saga has it
    return request
