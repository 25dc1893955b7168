"""Logging in by an identity provider: OpenID Connect, the authorization code flow with PKCE, by Authlib.

Authlib checks state, nonce, signature, issuer, audience and times; here is only whose role follows from which claim.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response

from sagagraph.access.roles import Role
from sagagraph.errors import NotAllowedError, ProviderError
from sagagraph.settings import OidcSettings

_MOST_BEGUN: Final = 1000
_SHOWN: Final = ("preferred_username", "email", "name", "sub")
"""Claims by which somebody is called, the first that is there."""


@dataclass(frozen=True, slots=True)
class Person:
    subject: str
    name: str
    role: Role


class IdentityProvider:
    """One identity provider. What a login needs between its two halves is kept here, under a secret of the browser's."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._begun: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._client: Any = OAuth().register(
            "sagagraph",
            client_id=settings.client_id,
            client_secret=settings.client_secret.revealed() or None,
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256", "timeout": 10},
        )

    async def begin(self, request: Request, secret: str, back: str) -> Response:
        """Send the browser to the provider, which sends it `back`. Raises `ProviderError`."""
        self._begun[secret] = request.scope["session"] = {}
        while len(self._begun) > _MOST_BEGUN:
            self._begun.popitem(last=False)
        try:
            answer: Response = await self._client.authorize_redirect(request, back)
        except Exception as exc:  # whatever the library's client raises when nobody answers
            raise ProviderError(f"the identity provider does not answer ({type(exc).__name__}): try again later") from exc
        return answer

    async def person(self, request: Request, secret: str) -> Person:
        """Return who has come back. Raises `NotAllowedError` for whoever has no role here, or did not begin here."""
        request.scope["session"] = self._begun.pop(secret, {})
        try:
            token = await self._client.authorize_access_token(request)
        except (OAuthError, JoseError) as exc:
            raise NotAllowedError(f"the login was not completed ({type(exc).__name__}): begin again") from exc
        except Exception as exc:
            raise ProviderError(f"the identity provider does not answer ({type(exc).__name__}): try again later") from exc
        return person_of(token.get("userinfo") or {}, self._settings)


def person_of(claims: Mapping[str, Any], settings: OidcSettings) -> Person:
    """Return who the claims are about, with the role that the first of `roles` gives them."""
    said = claims.get(settings.claim)
    values = {said} if isinstance(said, str) else set(said or ())
    role = next((role for value, role in settings.roles.items() if value in values), None)
    name = str(next((claims[each] for each in _SHOWN if claims.get(each)), ""))
    if role is None or not claims.get("sub"):
        raise NotAllowedError(f"{name or 'nobody'} has no role here: ask whoever runs this server")
    return Person(f"{settings.issuer} {claims['sub']}", name, Role(role))
