"""`sagagraph ui`: the app, until it is told to stop."""

from __future__ import annotations

from sagagraph.bootstrap import Settings
from sagagraph.cli import output
from sagagraph.errors import InvalidInputError


async def serve_ui(settings: Settings, *, host: str, port: int, user: str, password: str, as_json: bool) -> int:
    try:
        from sagagraph.ui.app import Door, serve
    except ModuleNotFoundError as exc:
        raise InvalidInputError(f"{exc.name} is not installed; the app needs: pip install 'sagagraph[ui]'", field="ui") from exc

    if bool(user) is not bool(password):
        raise InvalidInputError("give both, a user and a password, or none", field="--user" if password else "--password")

    def announce(url: str) -> None:
        if as_json:
            output.print_json({"url": url})
        else:
            output.stdout.print(f"SagaGraph listens on {url}", markup=False)

    await serve(settings, Door(host, port, {user: password} if user else {}), announce)
    return 0
