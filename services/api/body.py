"""The body of a request: which types, how long, how slow, which text (R26, R27)."""

import asyncio
from collections.abc import Sequence
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request

from msgx.codec.position import BLANKS
from msgx.codec.wellformed import BOM, check_wellformed
from services.api.errors import NoBody, TooLong, TooSlow, Wrong, WrongMedia

JSON: Final = ("application/json",)
"""The media type of requests that are no message."""

MEDIA: Final = ("text/xml", "application/xml", "text/plain")
_UTF8: Final = frozenset({"utf-8", "utf8"})


def check_media(headers: Headers, accepted: Sequence[str] = MEDIA) -> None:
    """Accept the `accepted` media types in UTF-8, uncompressed.

    Raises:
        WrongMedia: anything else.
    """
    kind, *parameters = headers.get("content-type", "").split(";")
    if kind.strip().lower() not in accepted:
        raise WrongMedia(f"Content-Type must be one of {', '.join(accepted)}")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset" and value.strip(' \t"').lower() not in _UTF8:
            raise WrongMedia("charset must be utf-8")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise WrongMedia("the body must not be compressed")


async def read(request: Request, *, limit: int, seconds: float) -> bytes:
    """Return the body, counted while it arrives: what the client declares is only believed when
    it is too much (B103).

    Raises:
        TooLong: more than `limit` bytes.
        TooSlow: not whole within `seconds`.
        ClientDisconnect: the client left.
    """
    too_long = TooLong(f"the body is longer than {limit} bytes")
    if int(request.headers.get("content-length", "0")) > limit:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                if len(body) + len(piece) > limit:
                    raise too_long
                body += piece
    except TimeoutError:
        raise TooSlow(f"the body did not arrive within {seconds:g} seconds") from None
    return bytes(body)


M = TypeVar("M", bound=BaseModel)


def told(body: bytes, kind: type[M]) -> M:
    """Return what a JSON body says.

    Raises:
        NoBody: nothing but blanks.
        Wrong: it is no such object; the text names the field.
    """
    if not body.strip():
        raise NoBody("the body is empty")
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the body"
        raise Wrong(f"{where[:100]}: {fault['msg'][:200]}") from None


def text_of(body: bytes, *, limit: int) -> str:
    """Return the text to land: well-formed, and without BOM and blanks before the declaration
    (B81).

    Raises:
        NoBody: nothing but blanks.
        WrongEncoding: another encoding than UTF-8 is declared (B78).
        Fault: MALFORMED: not well-formed, or a forbidden construct (B76, B77).
    """
    if not body.removeprefix(BOM.encode()).strip(BLANKS.encode()):
        raise NoBody("the body is empty")
    check_wellformed(body, limit)
    return body.decode().lstrip(BLANKS + BOM)
