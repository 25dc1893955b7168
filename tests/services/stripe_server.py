"""A server of Stripe's protocol, as far as payments need it: with what localstripe leaves out, idempotency keys above all.

Keys are remembered for 24 hours, with the first answer and what was asked; a list shows everything at once, a search only what is
a minute old. `POST /_test/forget` makes it forget the keys with what is posted in them. `python -m tests.services.stripe_server
PORT FILE` runs it: what it knows is in the file, and there after a restart.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

KEEPS_S = 24 * 3600
SEARCH_LAGS_S = 60


class Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, kind: str, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"type": kind, "code": code, "message": message}}


def _bad(code: str, message: str, status: int = 400) -> Refusal:
    return Refusal(status, "invalid_request_error", code, message)


class Books:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.RLock()
        known = json.loads(file.read_text()) if file.exists() else {}
        self.intents: dict[str, dict[str, Any]] = known.get("intents", {})
        self.refunds: dict[str, dict[str, Any]] = known.get("refunds", {})
        self.keys: dict[str, dict[str, Any]] = known.get("keys", {})

    def save(self) -> None:
        whole = {"intents": self.intents, "refunds": self.refunds, "keys": self.keys}
        beside = self._file.with_suffix(".new")
        beside.write_text(json.dumps(whole))
        beside.replace(self._file)

    def forget(self, part: str) -> None:
        """As time does: the keys that have this in them."""
        with self._lock:
            self.keys = {key: kept for key, kept in self.keys.items() if part not in key}
            self.save()

    def post(self, path: str, asked: dict[str, str], key: str) -> tuple[int, dict[str, Any], bool]:
        """Returns the status, the body, and whether it is an answer given before."""
        with self._lock:
            before = self.keys.get(key) if key else None
            if before is not None and time.time() - before["at"] < KEEPS_S:
                if [before["path"], before["asked"]] != [path, asked]:
                    raise Refusal(400, "idempotency_error", "idempotency_key_in_use", "Keys are for one set of parameters")
                return before["status"], before["body"], True
            try:
                status, body = 200, self._carried_out(path.strip("/").split("/")[1:], asked)
            except Refusal as refusal:
                if refusal.status == 400:  # a request that is not valid is not remembered
                    raise
                status, body = refusal.status, refusal.body
            if key:
                self.keys[key] = {"at": time.time(), "path": path, "asked": asked, "status": status, "body": body}
            self.save()
            return status, body, False

    def _carried_out(self, path: list[str], asked: dict[str, str]) -> dict[str, Any]:
        match path:
            case ["payment_intents"]:
                return self._create(asked)
            case ["payment_intents", name, "capture"]:
                return self._capture(self.intent(name), asked)
            case ["payment_intents", name, "cancel"]:
                intent = self.intent(name)
                if intent["status"] != "requires_capture":
                    raise _bad("payment_intent_unexpected_state", f"It is {intent['status']}")
                intent.update(status="canceled", amount_capturable=0)
                return dict(intent)
            case ["refunds"]:
                return self._refund(asked)
        raise _bad("resource_missing", "No such thing", 404)

    def _create(self, asked: dict[str, str]) -> dict[str, Any]:
        if asked.get("payment_method") == "pm_card_chargeDeclined":
            raise Refusal(402, "card_error", "card_declined", "Your card was declined.")
        amount = int(asked["amount"])
        intent = {
            "id": f"pi_{uuid4().hex[:24]}",
            "object": "payment_intent",
            "amount": amount,
            "amount_received": 0,
            "amount_capturable": amount,
            "currency": asked["currency"],
            "status": "requires_capture",
            "capture_method": "manual",
            "created": int(time.time()),
            "description": asked.get("description"),
            "customer": asked.get("customer"),
            "metadata": _metadata(asked),
            "livemode": False,
        }
        self.intents[intent["id"]] = intent
        return dict(intent)

    def _capture(self, intent: dict[str, Any], asked: dict[str, str]) -> dict[str, Any]:
        if intent["status"] != "requires_capture":
            raise _bad("payment_intent_unexpected_state", f"It is {intent['status']}")
        amount = int(asked.get("amount_to_capture", intent["amount"]))
        if amount > intent["amount"]:
            raise _bad("amount_too_large", "More than was authorised")
        intent.update(status="succeeded", amount_received=amount, amount_capturable=0)
        intent["metadata"] |= _metadata(asked)
        return dict(intent)

    def _refund(self, asked: dict[str, str]) -> dict[str, Any]:
        intent = self.intent(asked["payment_intent"])
        left = intent["amount_received"] - sum(each["amount"] for each in self.refunds_of(intent["id"]))
        amount = int(asked.get("amount", left))
        if amount > left or left == 0:
            raise _bad("charge_already_refunded", "More than is left of it")
        refund = {
            "id": f"re_{uuid4().hex[:24]}",
            "object": "refund",
            "amount": amount,
            "currency": intent["currency"],
            "payment_intent": intent["id"],
            "status": "succeeded",
            "created": int(time.time()),
            "metadata": _metadata(asked),
        }
        self.refunds[refund["id"]] = refund
        return refund

    def intent(self, name: str) -> dict[str, Any]:
        if name not in self.intents:
            raise _bad("resource_missing", f"No such payment_intent: '{name}'", 404)
        return self.intents[name]

    def refunds_of(self, intent: str) -> list[dict[str, Any]]:
        return [each for each in self.refunds.values() if each["payment_intent"] == intent]

    def get(self, path: str, asked: dict[str, str]) -> dict[str, Any]:
        with self._lock:
            match path.strip("/").split("/")[1:]:
                case ["payment_intents"]:
                    since = int(asked.get("created[gte]", 0))
                    customer = asked.get("customer")
                    every = [each for each in self.intents.values() if each["created"] >= since]
                    return _page(path, [each for each in every if customer in (None, each["customer"])], asked)
                case ["payment_intents", "search"]:
                    old = [each for each in self.intents.values() if each["created"] < time.time() - SEARCH_LAGS_S]
                    return _page(path, old, asked)
                case ["payment_intents", name]:
                    return dict(self.intent(name))
                case ["refunds"]:
                    return _page(path, self.refunds_of(asked["payment_intent"]), asked)
            raise _bad("resource_missing", "No such thing", 404)


def _metadata(asked: dict[str, str]) -> dict[str, str]:
    return {name[9:-1]: said for name, said in asked.items() if name.startswith("metadata[")}


def _page(path: str, found: list[dict[str, Any]], asked: dict[str, str]) -> dict[str, Any]:
    newest_first = list(reversed(found))
    after = asked.get("starting_after")
    if after is not None:
        newest_first = newest_first[[each["id"] for each in newest_first].index(after) + 1 :]
    limit = int(asked.get("limit", 10))
    return {"object": "list", "url": path, "data": newest_first[:limit], "has_more": len(newest_first) > limit}


class Server(ThreadingHTTPServer):
    allow_reuse_address = True

    def handle_error(self, *_of: Any) -> None:
        """Say nothing of clients that are killed."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    books: Books

    def do_POST(self) -> None:
        said = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        path = urlsplit(self.path).path
        if path == "/_test/forget":
            self.books.forget(said)
            self._answer(200, {})
            return
        self._answered(lambda: self.books.post(path, dict(parse_qsl(said)), self.headers.get("Idempotency-Key", "")))

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self._answered(lambda: (200, self.books.get(parts.path, dict(parse_qsl(parts.query))), False))

    def _answered(self, answer: Any) -> None:
        if not self.headers.get("Authorization", "").removeprefix("Bearer ").startswith("sk_test_"):
            self._answer(401, {"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}})
            return
        try:
            status, body, is_repeated = answer()
        except Refusal as refusal:
            status, body, is_repeated = refusal.status, refusal.body, False
        self._answer(status, body, {"Idempotent-Replayed": "true"} if is_repeated else {})

    def _answer(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, said in {**(headers or {}), "Content-Type": "application/json", "Content-Length": str(len(content))}.items():
            self.send_header(name, said)
        self.send_header("Request-Id", f"req_{uuid4().hex[:14]}")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_said: object) -> None:
        pass


def serve(file: Path, port: int = 0, on_ready: Callable[[str], None] | None = None) -> None:
    Handler.books = Books(file)
    with Server(("127.0.0.1", port), Handler) as server:
        if on_ready is not None:
            on_ready(f"http://127.0.0.1:{server.server_port}")
        server.serve_forever()


if __name__ == "__main__":
    serve(Path(sys.argv[2]), int(sys.argv[1]))
