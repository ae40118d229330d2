"""`POST /schd/sync` and `/api/v1/requests`: requests to the AODB (C-8, R27, R33)."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field, RootModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from msgx.domain.requests import RequestState, RequestType
from services.api import body, schema
from services.api.asking import Asking
from services.api.door import Gate
from services.api.envelope import ok

_LONGEST_BODY: Final = 4096
_PAGE: Final = 100
_LONGEST_PAGE: Final = 500
_MAX_ID: Final = 2**63 - 1
_AWAY: Final = "PostgreSQL is away, or too many requests wait or are in work"
_TEXT: Final = Field(max_length=64)
_REGISTERING: Final = {
    202: {"model": schema.Registered, "description": "registered under the number in `body`"},
    **schema.failures(
        (400, "the body is none, or asks for what cannot be asked: nothing registered"),
        (408, "the body did not arrive in time: nothing registered"),
        (413, "the body is too long: nothing registered"),
        (415, "another media type or charset: nothing registered"),
        (503, _AWAY),
    ),
}
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Span(BaseModel):
    """The span of a day plan. Each end is a date (the operation day), an ISO date-time, or a
    date with a 12-hour time and AM or PM; without an offset it is the airport's time."""

    startDate: Annotated[str, _TEXT]
    endDate: Annotated[str, _TEXT]


class DayPlan(Span):
    """A request for the flights of a span."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["RQFD"]


class ReferenceData(BaseModel):
    """A request for a category of reference data; `rtyp` is for RSTA only."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["RQRD"]
    category: Annotated[str, _TEXT]
    rtyp: Annotated[str | None, _TEXT] = None


class Wanted(RootModel[Annotated[DayPlan | ReferenceData, Field(discriminator="type")]]):
    """What is asked for, told by its type."""


def router(asking: Asking, *, bodies: Gate, uses: Gate, seconds: float) -> APIRouter:
    """Return the routes; a body has `seconds` to arrive."""
    routes = APIRouter()

    async def read(request: Request, kind: type[M]) -> M:
        body.check_media(request.headers, body.JSON)
        async with bodies.place():
            given = await body.read(request, limit=_LONGEST_BODY, seconds=seconds)
        return body.told(given, kind)

    async def use(do: Callable[..., T], *given: Any, **named: Any) -> T:
        async with uses.place():
            return await run_in_threadpool(do, *given, **named)

    @routes.post(
        "/schd/sync",
        summary="Ask the AODB for the day plan of a span; it is sent and answered later",
        status_code=202,
        response_class=Response,
        openapi_extra=_body(Span.model_json_schema()),
        responses=_REGISTERING,
    )
    async def sync(request: Request) -> Response:
        told = await read(request, Span)
        return ok(await use(asking.plan, told.startDate, told.endDate), status=202)

    @routes.post(
        "/api/v1/requests",
        summary="Ask the AODB for a day plan or for a category of reference data",
        status_code=202,
        response_class=Response,
        openapi_extra=_body(
            {"oneOf": [DayPlan.model_json_schema(), ReferenceData.model_json_schema()]}
        ),
        responses=_REGISTERING,
    )
    async def ask(request: Request) -> Response:
        match (await read(request, Wanted)).root:
            case DayPlan(startDate=start, endDate=end):
                return ok(await use(asking.plan, start, end), status=202)
            case ReferenceData(category=category, rtyp=rtyp):
                return ok(await use(asking.reference, category, rtyp), status=202)

    @routes.get(
        "/api/v1/requests/{number}",
        summary="What became of a request",
        response_class=Response,
        responses={
            200: {"model": schema.OneRequest, "description": "the request"},
            **schema.failures(
                (400, "the number is none"), (404, "there is no such request"), (503, _AWAY)
            ),
        },
    )
    async def one(number: Annotated[int, Path(ge=1, le=_MAX_ID)]) -> Response:
        return ok(await use(asking.get, number))

    @routes.get(
        "/api/v1/requests",
        summary="Requests, the newest first",
        response_class=Response,
        responses={
            200: {"model": schema.Requests, "description": "at most `limit` requests"},
            **schema.failures((400, "a parameter is wrong"), (503, _AWAY)),
        },
    )
    async def latest(
        state: RequestState | None = None,
        type: RequestType | None = None,
        styp: Annotated[str | None, Query(pattern="^[A-Z]{4}$")] = None,
        before: Annotated[int | None, Query(ge=1, le=_MAX_ID)] = None,
        limit: Annotated[int, Query(ge=1, le=_LONGEST_PAGE)] = _PAGE,
    ) -> Response:
        return ok(
            await use(
                asking.latest, before=before, limit=limit, state=state, type=type, styp=styp
            )
        )

    return routes


def _body(told: schema.Schema) -> schema.Schema:
    return {"requestBody": {"required": True, "content": {body.JSON[0]: {"schema": told}}}}
