"""Failures as HTTP answers: the only place that knows which class has which status (R27)."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from msgx.codec.wellformed import WrongEncoding
from msgx.domain.failure import ErrorClass, Fault
from services.api.envelope import failure


class Refused(Exception):
    """The request cannot be served as it is; the text tells the client why."""


class NoBody(Refused):
    """Nothing was sent."""


class TooLong(Refused):
    """The body is over `msgx.http.max-body`."""


class TooSlow(Refused):
    """The body did not arrive within `msgx.http.timeout`."""


class WrongMedia(Refused):
    """Content-Type, charset or Content-Encoding is none of ours."""


class Wrong(Refused):
    """What the body or a parameter says is no such thing."""


class Missing(Refused):
    """There is no such thing."""


class Busy(Refused):
    """No place became free in time."""


class ReadOnly(Refused):
    """This gateway may not write the mailbox (R50)."""


_OF_REFUSAL: Final[Mapping[type[Refused], int]] = MappingProxyType(
    {
        NoBody: HTTPStatus.BAD_REQUEST,
        TooLong: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        TooSlow: HTTPStatus.REQUEST_TIMEOUT,
        WrongMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        Wrong: HTTPStatus.BAD_REQUEST,
        Missing: HTTPStatus.NOT_FOUND,
        Busy: HTTPStatus.SERVICE_UNAVAILABLE,
        ReadOnly: HTTPStatus.SERVICE_UNAVAILABLE,
    }
)

_OF_CLASS: Final[Mapping[ErrorClass, int]] = MappingProxyType(
    {
        ErrorClass.MALFORMED: HTTPStatus.BAD_REQUEST,
        ErrorClass.PROTOCOL: HTTPStatus.BAD_REQUEST,
        ErrorClass.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        ErrorClass.INFRA: HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
"""What is not listed is a defect of ours."""

_DEFECT: Final = "the request failed for a reason of ours; the log says which"


def status_of(error: Exception) -> int:
    """Return the HTTP status of `error`."""
    match error:
        case HTTPException():
            return error.status_code
        case RequestValidationError():
            return HTTPStatus.BAD_REQUEST
        case WrongEncoding():
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        case Refused():
            return _OF_REFUSAL[type(error)]
        case Fault():
            return _OF_CLASS.get(error.error_class, HTTPStatus.INTERNAL_SERVER_ERROR)
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR


def answer(error: Exception) -> Response:
    """Return the envelope of `error`: its own words only where they are for the client."""
    status = status_of(error)
    match error:
        case HTTPException():
            response = failure(status, HTTPStatus(status).phrase.lower())
            response.headers.update(error.headers or {})
            return response
        case RequestValidationError():
            return failure(status, "a parameter of the request is missing or wrong")
        case Refused() | Fault() if status != HTTPStatus.INTERNAL_SERVER_ERROR:
            return failure(status, str(error))
        case _:
            return failure(status, _DEFECT)


def install(app: FastAPI) -> None:
    """Make `app` answer its failures in the envelope; anything unexpected is the door's."""

    def handle(_: Request, error: Exception) -> Response:
        return answer(error)

    for kind in (HTTPException, RequestValidationError, Refused, Fault):
        app.add_exception_handler(kind, handle)
