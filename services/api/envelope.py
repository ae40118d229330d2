"""The envelope of every answer: `{"code": 0, "message": "ok", "body": …}` (R27)."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_HEAD: Final = b'{"code":0,"message":"ok","body":['
_TAIL: Final = b"]}"
_PIECE: Final = 64 * 1024
_JSON: Final = "application/json"


def ok(body: object, status: int = 200) -> Response:
    """Return the answer of a request that did what it says."""
    return _answer(status, 0, "ok", body)


def failure(status: int, message: str) -> Response:
    """Return the answer of a request that did nothing; the code is the status."""
    return _answer(status, status, message, None)


def failure_text(status: int, message: str) -> bytes:
    """Return the bytes of a failure's envelope."""
    return _text(status, message, None)


class Listing(Response):
    """An envelope around JSON texts that are passed on as they are, in pieces, so that a slow
    client costs its list but no second copy of it."""

    media_type = _JSON

    def __init__(self, texts: Sequence[bytes], *, seconds: float) -> None:
        self._texts = texts
        self._seconds = seconds  # for the client to take it all
        size = len(_HEAD) + len(_TAIL) + sum(map(len, texts)) + max(0, len(texts) - 1)
        super().__init__(headers={"content-length": str(size)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer.

        Raises:
            TimeoutError: the client did not take it in time.
        """
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        async with asyncio.timeout(self._seconds):
            await send(start)
            for piece in self._pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _pieces(self) -> Iterator[bytes]:
        piece = bytearray(_HEAD)
        for number, text in enumerate(self._texts):
            if number:
                piece += b","
            piece += text
            if len(piece) >= _PIECE:
                yield bytes(piece)
                piece.clear()
        yield bytes(piece + _TAIL)


def _answer(status: int, code: int, message: str, body: object) -> Response:
    return Response(_text(code, message, body), status_code=status, media_type=_JSON)


def _text(code: int, message: str, body: object) -> bytes:
    envelope: dict[str, Any] = {"code": code, "message": message, "body": body}
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()
