"""`GET /api/v1/reference` and `/api/v1/availability`: reference data as it stands (US-13)."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from msgx.domain.refdata import KEY_LIMIT, RKEY_LIMIT, Category
from services.api import schema
from services.api.door import Gate
from services.api.envelope import ok
from services.api.reference import Reference

_PAGE: Final = 100
_LONGEST_PAGE: Final = 1000
_AWAY: Final = (503, "PostgreSQL is away, or too many requests are in work")
_PRINTABLE: Final = r"^[^\x00-\x1f\x7f]*$"


def router(reference: Reference, *, uses: Gate) -> APIRouter:
    """Return the routes."""
    routes = APIRouter()

    async def use(do: Callable[..., Any], *given: Any, **named: Any) -> Response:
        async with uses.place():
            return ok(await run_in_threadpool(do, *given, **named))

    @routes.get(
        "/api/v1/reference",
        summary="Every category of reference data: how many records, who spoke last",
        response_class=Response,
        responses={
            200: {
                "model": schema.Categories,
                "description": "every category",
            },
            **schema.failures(_AWAY),
        },
    )
    async def categories() -> Response:
        return await use(reference.categories)

    @routes.get(
        "/api/v1/reference/{category}",
        summary="The records of a category, in order of their keys",
        response_class=Response,
        responses={
            200: {
                "model": schema.References,
                "description": "at most `limit` records; `next` is `after` of the next page",
            },
            **schema.failures((400, "no such category, or a wrong parameter"), _AWAY),
        },
    )
    async def page(
        category: Category,
        after: Annotated[str, Query(max_length=RKEY_LIMIT, pattern=_PRINTABLE)] = "",
        limit: Annotated[int, Query(ge=1, le=_LONGEST_PAGE)] = _PAGE,
    ) -> Response:
        return await use(reference.page, category, after=after, limit=limit)

    @routes.get(
        "/api/v1/availability",
        summary="Whether a belt, counter, gate or stand is available at an instant",
        response_class=Response,
        responses={
            200: {
                "model": schema.OneAvailability,
                "description": "available unless the last event says otherwise",
            },
            **schema.failures((400, "a parameter is missing or wrong"), _AWAY),
        },
    )
    async def availability(
        rtyp: Literal["BELT", "CNTR", "GATE", "STND"],
        rsid: Annotated[str, Query(min_length=1, max_length=KEY_LIMIT, pattern=_PRINTABLE)],
        at: Annotated[str | None, Query(max_length=40)] = None,
    ) -> Response:
        return await use(reference.availability, rtyp, rsid, at)

    return routes
