"""Entry: job shops, as the registry knows them before they are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sagagraph.extras import needing
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.validators.verdict import Verdict


class JobShopEntry(Entry[Any]):  # nothing is ever opened: a schedule is in its file
    name = "jobshop"
    runs_sagas = False
    commands: ClassVar[Mapping[str, str]] = {"jobshop": "Job shops: which step of which job is on which machine when."}

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        with needing("jobshop"):
            from sagagraph.domains.job_shop.judging import judge

        return await judge(case)

    def command(self, name: str) -> typer.Typer:
        with needing("jobshop"):
            from sagagraph.domains.job_shop.commands.verbs import jobshop

        return {"jobshop": jobshop}[name]


DOMAIN = JobShopEntry()
