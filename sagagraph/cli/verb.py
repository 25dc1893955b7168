"""Verb of a domain: the command that begins its sagas under its own name."""

from __future__ import annotations

import typer

from sagagraph.cli import options as o


def begins(domain: str, about: str, *, prefix: str) -> typer.Typer:
    """Return the command that begins sagas of a domain, whose ids begin with `prefix`: `sagagraph begin DOMAIN` under its own
    name.
    """
    verb = o.verbs(about)

    @verb.command(help=about)
    def command(
        options: o.Beginning,
        text: o.Text = None,
        request: o.RequestFile = None,
        saga_id: o.NewSagaId = None,
        yes: o.Yes = False,
        only: o.PlanOnly = False,
    ) -> None:
        from sagagraph.cli import beginning

        if only:
            o.end(beginning.plan_only(options, domain, text, request))
        o.end(beginning.begin(options, domain, text, request, saga_id, approved=yes, prefix=prefix))

    return verb
