"""`GET /all/flights`: the whole projection or an error, never less (INV-24, C-11)."""

from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from msgx.projection.read import Reader
from services.api import schema
from services.api.door import Gate
from services.api.envelope import Listing

_UNAVAILABLE: Final = "Redis is away or not complete, or too many requests are in work"


def router(reader: Reader, gate: Gate, *, seconds: float) -> APIRouter:
    """Return the route; `seconds` is what a client has to take the answer."""
    routes = APIRouter()

    @routes.get(
        "/all/flights",
        summary="All active flights that are not codeshares, keyed by SIS tags",
        response_class=Response,
        responses={
            200: {
                "description": "one consistent set, not paged; the list may be empty",
                "content": {"application/json": {"schema": schema.flights()}},
            },
            **schema.failures((503, _UNAVAILABLE)),
        },
    )
    async def all_flights() -> Response:
        async with gate.place():
            texts = await run_in_threadpool(reader.read_all)
        return Listing(texts, seconds=seconds)

    return routes
