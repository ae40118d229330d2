"""`msgxctl send`: files into the mailbox, through the api like any other client (C-7)."""

import json
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

import typer

from msgxctl import options, show
from msgxctl.failure import Failure, Status, misused
from msgxctl.place import Place, read, reason, shown, tls

_LONGEST_ANSWER: Final = 1 << 20
_STDIN: Final = Path("-")


def send(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(help="XML messages, one a file, in this order; - is standard input."),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Send messages into the mailbox, through the api.

    One that is refused does not stop the others; when the api does not answer,
    the rest is not sent.
    """
    http = Http(context.obj)
    texts = [(file, text_of(file)) for file in files]
    rows: list[dict[str, Any]] = []
    status = Status.DONE
    with show.progress("sent", len(texts)) as done:
        for number, (file, text) in enumerate(texts, start=1):
            row: dict[str, Any] = {"file": shown(file), "msg_id": None, "error": None}
            rows.append(row)
            try:
                row["msg_id"] = http.land(text)
            except Failure as failure:
                row["error"], status = failure.text, failure.status
                if status is not Status.FAILED:
                    break
            done(number)
    rows += [
        {"file": shown(file), "msg_id": None, "error": "not sent"}
        for file, _ in texts[len(rows) :]
    ]
    if as_json:
        show.as_json(rows)
    else:
        show.table(rows, (("file", "file"), ("landed as", "msg_id"), ("not landed", "error")))
    refused = sum(row["error"] is not None for row in rows)
    if refused:
        worst = status if status is not Status.DONE else Status.FAILED
        raise Failure(worst, f"{refused} of {len(rows)} messages did not land")


class Http:
    """The api's door."""

    def __init__(self, place: Place) -> None:
        if not _is_address(place.api):
            misused("the api's address must be an http or https URL")
        self._base = place.api.rstrip("/")
        self._timeout = place.timeout
        self._opener: OpenerDirector = build_opener(
            ProxyHandler({}), HTTPSHandler(context=tls(place))
        )

    def land(self, text: bytes) -> int:
        """Post a message; return the mailbox id.

        Raises:
            Failure: FAILED: refused, nothing landed; AWAY: the api does not answer.
        """
        request = Request(  # noqa: S310 - the scheme was looked at
            f"{self._base}/cminmsgs/send",
            data=text,
            headers={"Content-Type": "application/xml; charset=utf-8"},
            method="POST",
        )
        return int(self._ask(request)["body"])

    def _ask(self, request: Request) -> Any:
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                told = answer.read(_LONGEST_ANSWER)
        except HTTPError as error:
            with error:
                told = error.read(_LONGEST_ANSWER)
            status = Status.AWAY if error.code == 503 else Status.FAILED
            raise Failure(status, _words(told, error.code)) from None
        except URLError as error:
            cause = error.reason
            why = reason(cause) if isinstance(cause, OSError) else str(cause)
            raise Failure(Status.AWAY, f"the api does not answer: {why}") from None
        except (OSError, HTTPException) as error:  # after the request was sent
            text = f"the api broke off: {reason(error)}; the message may have landed"
            raise Failure(Status.AWAY, text) from None
        try:
            envelope = json.loads(told)
            int(envelope["body"])
        except (ValueError, KeyError, TypeError):
            raise Failure(
                Status.FAILED, "what answers at this address is not the api"
            ) from None
        return envelope


def _words(told: bytes, code: int) -> str:
    """Return what the api says of a failure: its envelope's message."""
    try:
        words = json.loads(told)["message"]
    except (ValueError, KeyError, TypeError):
        words = None
    return f"{words if isinstance(words, str) else 'no reason given'} ({code})"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port, too
        return False


def text_of(file: Path) -> bytes:
    """Return what a file or standard input holds.

    Raises:
        Failure: it cannot be read.
    """
    return sys.stdin.buffer.read() if file == _STDIN else read(file, "the file")
