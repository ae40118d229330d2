"""`/healthz`: the process is up. `/readyz`: it can serve `/all/flights`.

Mailbox and PostgreSQL are left out of readiness on purpose: while they are away the display
must stay, and the routes that need them say so themselves.
"""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from msgx.projection.read import Reader
from services.api import schema
from services.api.door import Gate
from services.api.envelope import ok


def router(reader: Reader, gate: Gate) -> APIRouter:
    """Return the two routes."""
    routes = APIRouter()

    @routes.get(
        "/healthz",
        summary="The process is up",
        response_class=Response,
        responses={200: {"model": schema.Done, "description": "up"}},
    )
    async def healthz() -> Response:
        return ok(None)

    @routes.get(
        "/readyz",
        summary="The flight projection is complete, so /all/flights can be served",
        response_class=Response,
        responses={
            200: {"model": schema.Done, "description": "ready"},
            **schema.failures((503, "Redis is away or not complete")),
        },
    )
    async def readyz() -> Response:
        async with gate.place():
            await run_in_threadpool(reader.probe)
        return ok(None)

    return routes
