"""The body of `/cminmsgs/send`: which types, how long, how slow, which text (R26, R27)."""

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request

from msgx.codec.position import BLANKS
from msgx.codec.wellformed import BOM, check_wellformed
from services.api.errors import NoBody, TooLong, TooSlow, WrongMedia

MEDIA: Final = ("text/xml", "application/xml", "text/plain")
_UTF8: Final = frozenset({"utf-8", "utf8"})


def check_media(headers: Headers) -> None:
    """Accept the three media types of C-7 in UTF-8, uncompressed.

    Raises:
        WrongMedia: anything else.
    """
    kind, *parameters = headers.get("content-type", "").split(";")
    if kind.strip().lower() not in MEDIA:
        raise WrongMedia(f"Content-Type must be one of {', '.join(MEDIA)}")
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
