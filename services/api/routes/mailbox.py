"""`POST /cminmsgs/send`: a message into the mailbox, on the same way as the adapter's (C-7)."""

from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from services.api import body, schema
from services.api.door import Gate
from services.api.envelope import ok
from services.api.landing import Landing

_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "one XML message in UTF-8",
        "content": {kind: {"schema": {"type": "string"}} for kind in body.MEDIA},
    }
}


def router(
    landing: Landing, *, bodies: Gate, checks: Gate, writes: Gate, limit: int, seconds: float
) -> APIRouter:
    """Return the route; a body has `limit` bytes and `seconds` to arrive."""
    routes = APIRouter()

    @routes.post(
        "/cminmsgs/send",
        summary="Land a message in the mailbox; it is processed later",
        response_class=Response,
        openapi_extra=_BODY,
        responses={
            200: {"model": schema.Landed, "description": "landed under the id in `body`"},
            **schema.failures(
                (400, "empty, not well-formed XML, or a forbidden construct: nothing landed"),
                (408, "the body did not arrive in time: nothing landed"),
                (413, "the body is too long: nothing landed"),
                (415, "another media type, charset or declared encoding: nothing landed"),
                (503, "the mailbox is away or read-only, or too many requests are in work"),
            ),
        },
    )
    async def send(request: Request) -> Response:
        body.check_media(request.headers)
        async with bodies.place():
            given = await body.read(request, limit=limit, seconds=seconds)
            async with checks.place():
                text = await run_in_threadpool(body.text_of, given, limit=limit)
            async with writes.place():
                return ok(await run_in_threadpool(landing.land, text))

    return routes
