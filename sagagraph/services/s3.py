"""S3: objects of a versioned bucket. A write is conditional, and undone by deleting the version that it made, and no other.

S3 refuses a request that was signed more than fifteen minutes ago: after that time nothing of a call can arrive any more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.extras import needing
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.services.event import name_of
from sagagraph.services.service import POLICY, Account, Opened, Trial

_SIGNED_FOR: Final = timedelta(minutes=15)
_MARK: Final = "sagagraph-key"
_LATER: Final = frozenset({"SlowDown", "Throttling", "TooManyRequests", "RequestLimitExceeded", "429"})
_MOST_MARKERS: Final = 10


class PutObject(BaseModel):
    """Object to write. `replaces`: the ETag of what is there now; empty: nothing may be there."""

    key: str
    text: str
    replaces: str = ""


class DeleteObject(BaseModel):
    """Object to delete, which is at this version: a delete marker hides it."""

    key: str
    version: str


class Version(BaseModel):
    key: str
    version: str
    etag: str = ""


class Bucket:
    """Bucket at the URL of the account: `https://ACCESS_KEY@HOST/BUCKET`. Its client blocks, and repeats nothing by itself."""

    def __init__(self, account: Account) -> None:
        with needing("s3"):
            import boto3
            from botocore.config import Config

        parts = urlsplit(account.address)
        self.name = parts.path.strip("/")
        if not self.name or not account.user:
            raise InvalidInputError("https://ACCESS_KEY@HOST/BUCKET, and the secret key beside it", field="--url")
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=f"{parts.scheme}://{parts.netloc}",
            aws_access_key_id=account.user,
            aws_secret_access_key=account.secret,
            region_name=str(account.options.get("region") or "us-east-1"),
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, read_timeout=POLICY.timeout_s),
        )
        self.settles = timedelta(seconds=float(account.options.get("settles_s") or _SIGNED_FOR.total_seconds()))
        self.identity = account.identity

    def versions(self, key: str, what: str = "Versions") -> Iterator[dict[str, Any]]:
        """Yield the versions of an object, or its "DeleteMarkers", the latest first."""
        for page in self.client.get_paginator("list_object_versions").paginate(Bucket=self.name, Prefix=key):
            yield from (each for each in page.get(what, ()) if each["Key"] == key)

    def made_by(self, request: PutObject, key: str) -> Version | None:
        for each in self.versions(request.key):
            made = self.client.head_object(Bucket=self.name, Key=request.key, VersionId=each["VersionId"])
            if made["Metadata"].get(_MARK) == name_of(key):
                return Version(key=request.key, version=each["VersionId"], etag=each["ETag"])
        return None

    def marker(self, key: str) -> str | None:
        """Return the delete marker that hides the object, if one does."""
        return next((each["VersionId"] for each in self.versions(key, "DeleteMarkers") if each["IsLatest"]), None)

    def delete(self, key: str, version: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=key, VersionId=version)


def s3_refused(exc: Exception) -> Refused | None:
    """Return what an error of the client refuses: nothing that S3 answers with 4xx was carried out."""
    if type(exc).__name__ == "EndpointConnectionError":
        return Refused("no connection could be made", code="not_connected", transient=True)
    said: Any = getattr(exc, "response", None) or {}
    code, status = str(said.get("Error", {}).get("Code", "")), said.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    is_later = code in _LATER
    if not is_later and (not 400 <= status < 500 or code in ("RequestTimeout", "OperationAborted", "ConditionalRequestConflict")):
        return None
    return Refused(f"S3 answered with {code or status}", code=code or f"http_{status}", transient=is_later)


def bucket_actions(bucket: Bucket) -> tuple[Action, ...]:
    # No keys: a condition says nothing of a call that arrives after the object was deleted again.
    guarantees = Guarantees(settles=bucket.settles)
    common: Any = {"policy": POLICY, "guarantees": guarantees, "fails_on": s3_refused, "provider": bucket.identity}

    def put_object(request: PutObject, call: Call) -> Version:
        condition = {"IfMatch": request.replaces} if request.replaces else {"IfNoneMatch": "*"}
        marks = {_MARK: name_of(call.idempotency_key)}
        content = request.text.encode()
        try:
            made = bucket.client.put_object(Bucket=bucket.name, Key=request.key, Body=content, Metadata=marks, **condition)
        except bucket.client.exceptions.ClientError:
            if (before := bucket.made_by(request, call.idempotency_key)) is None:
                raise
            return before
        return Version(key=request.key, version=made["VersionId"], etag=made["ETag"])

    def remove(request: PutObject, _made: Version, call: Call) -> None:
        if (made := bucket.made_by(request, call.operation_key)) is not None:
            bucket.delete(request.key, made.version)

    def find(request: PutObject, call: Call) -> Probe:
        made = bucket.made_by(request, call.operation_key)
        return Probe.absent() if made is None else Probe.landed(made)

    def delete_object(request: DeleteObject, _call: Call) -> Version:
        if (hidden := _hides(bucket, request)) is None:
            hidden = bucket.client.delete_object(Bucket=bucket.name, Key=request.key)["VersionId"]
        return Version(key=request.key, version=hidden)

    def restore(request: DeleteObject, _deleted: Version, _call: Call) -> None:
        """Remove the markers that hide it: there may be several, if a deletion arrived twice."""
        for _each in range(_MOST_MARKERS):
            if (hidden := _hides(bucket, request)) is None:
                return
            bucket.delete(request.key, hidden)

    def is_deleted(request: DeleteObject, _call: Call) -> Probe:
        hidden = _hides(bucket, request)
        return Probe.absent() if hidden is None else Probe.landed(Version(key=request.key, version=hidden))

    return (
        action(put_object, compensate=remove, probe=find, **common),
        action(delete_object, compensate=restore, probe=is_deleted, **common),
    )


def _hides(bucket: Bucket, request: DeleteObject) -> str | None:
    """Return the marker that hides this version. Raises `Refused` if others have written another one since."""
    latest = next((each["VersionId"] for each in bucket.versions(request.key)), None)
    if latest != request.version:
        raise Refused("others have changed this object since", code="changed_since")
    return bucket.marker(request.key)


# -- the service -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    bucket = Bucket(account)
    yield Opened(actions := bucket_actions(bucket), _trial(bucket, actions))


def _trial(bucket: Bucket, actions: tuple[Action, ...]) -> Trial:
    put, delete = actions

    async def book(saga: BodySaga, name: str) -> None:
        first = await saga.run(put, PutObject(key=f"{name}/a", text="one"))
        await saga.run(put, PutObject(key=f"{name}/a", text="two", replaces=first.etag))
        other = await saga.run(put, PutObject(key=f"{name}/b", text="other"))
        await saga.run(delete, DeleteObject(key=f"{name}/b", version=other.version))

    async def standing(name: str) -> dict[str, object]:
        return await in_thread(_standing, bucket, name)

    done = {"versions": 2, "others": 1, "is hidden": True}
    return Trial(standing, done=done, undone={"versions": 0, "others": 0, "is hidden": False}, book=book)


def _standing(bucket: Bucket, name: str) -> dict[str, object]:
    versions, others = (len(list(bucket.versions(f"{name}/{each}"))) for each in "ab")
    return {"versions": versions, "others": others, "is hidden": bucket.marker(f"{name}/b") is not None}
