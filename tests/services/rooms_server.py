"""A hotel as many services are: no idempotency keys; a reference of the caller is stored, and can be searched for.

`python -m tests.services.rooms_server PORT FILE` runs it; without arguments it prints its OpenAPI document.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, delete, insert, select

BOOKINGS = Table(
    "bookings",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("guest", Text),
    Column("room", Text),
    Column("client_reference", Text),
)


class NewBooking(BaseModel):
    guest: str
    room: str
    client_reference: str


def hotel(file: Path) -> FastAPI:
    app = FastAPI(title="Rooms", version="1")
    engine = create_engine(f"sqlite:///{file}")

    @app.post("/v1/bookings", status_code=201, operation_id="createBooking")
    def create(body: NewBooking) -> dict[str, Any]:
        with engine.begin() as connection:
            made = connection.execute(insert(BOOKINGS).values(**body.model_dump()))
            return {"id": made.inserted_primary_key[0], **body.model_dump()}

    @app.get("/v1/bookings", operation_id="listBookings")
    def listed(client_reference: str | None = None) -> dict[str, Any]:
        asked = select(BOOKINGS)
        asked = asked if client_reference is None else asked.where(BOOKINGS.c.client_reference == client_reference)
        with closing(engine.connect()) as connection:
            return {"items": [dict(row) for row in connection.execute(asked).mappings()]}

    @app.delete("/v1/bookings/{bookingId}", status_code=204, operation_id="deleteBooking")
    def undo(bookingId: int) -> None:  # noqa: N803 - as the document names it
        with engine.begin() as connection:
            if connection.execute(delete(BOOKINGS).where(BOOKINGS.c.id == bookingId)).rowcount == 0:
                raise HTTPException(404)

    return app


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.stdout.write(json.dumps(hotel(Path("none.db")).openapi(), indent=1) + "\n")
    else:
        BOOKINGS.metadata.create_all(create_engine(f"sqlite:///{sys.argv[2]}"))
        uvicorn.run(hotel(Path(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
