"""A canary in every secret that a server is given: in no log, metric, journal, page, error or list of settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx2

from tests.ui.conftest import Serve

CANARY = "canary-0b9e"
NAMED = {each: f"{CANARY}-{each}" for each in ("password", "oidc", "openai", "anthropic", "reader")}


def test_no_secret_is_to_be_seen_anywhere(serve: Serve, store: Path) -> None:
    settings = store.with_name("config.toml")
    settings.write_text(
        f'[users.rita]\npassword = "{NAMED["reader"]}"\nrole = "reader"\n[oidc]\nissuer = "http://127.0.0.1:1"\n'
        f'client_id = "sagagraph"\nclient_secret = "{NAMED["oidc"]}"\n'
    )
    environment = {
        "SAGAGRAPH_CONFIG": str(settings),
        "SAGAGRAPH_UI_USER": "olga",
        "SAGAGRAPH_UI_PASSWORD": NAMED["password"],
        "SAGAGRAPH_MODEL": "openai:m",
        "SAGAGRAPH_MODEL_SECONDS": "1",
        "OPENAI_API_KEY": NAMED["openai"],
        "OPENAI_BASE_URL": "http://127.0.0.1:1",
        "ANTHROPIC_API_KEY": NAMED["anthropic"],
    }
    server = serve(**environment)
    seen = []
    with httpx2.Client(base_url=server.url, timeout=120) as client:
        olga, rita = ("olga", NAMED["password"]), ("rita", NAMED["reader"])
        begun = client.post(
            "/api/v1/sagas", auth=olga, json={"domain": "travel", "text": "3 days in Rome from Berlin, 10-13 June 2025"}
        )
        seen.append(begun)
        saga_id = begun.json().get("saga_id", "none")
        login = client.post("/login", data={"name": "olga", "password": NAMED["password"]}, headers={"origin": server.url})
        session = login.cookies["sagagraph_session"]
        client.cookies.clear()
        seen += [
            client.post("/login", data={"name": "olga", "password": NAMED["reader"]}),
            client.get("/login/provider"),
            client.get("/login/back?code=x&state=y"),
            client.get("/operate", auth=("olga", NAMED["reader"])),
            client.get("/operate", headers={"authorization": f"Bearer {NAMED['password']}"}),
            *(client.get(path, auth=olga) for path in ("/", "/config", "/docs", "/operate", "/api/v1/overview", "/api/v1/sagas")),
            *(client.get(f"/api/v1/sagas/{saga_id}{each}", auth=olga) for each in ("", "/log", "/plan")),
            *(client.get(path, auth=rita) for path in ("/metrics", "/readyz", f"/operate/{saga_id}")),
            client.get(f"/operate?q={quote(CANARY[:6])}", auth=rita),
        ]
    found = [str(each.url) for each in seen if CANARY in each.text + repr(each.headers) or session in each.text]
    assert found == []
    server.stop()
    assert CANARY not in server.log
    for file in store.parent.rglob("*"):
        if file.is_file() and file != settings:
            content = file.read_bytes()
            assert CANARY.encode() not in content, file
            assert session.encode() not in content, file
    told = subprocess.run(
        [sys.executable, "-m", "sagagraph", "config", "--json"], env=environment, capture_output=True, text=True, check=True
    )
    assert len(json.loads(told.stdout)["settings"]) > 10
    assert CANARY not in told.stdout + told.stderr
