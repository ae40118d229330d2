"""`msgxctl send`: files into the mailbox, through the api like any other client (C-7)."""

import json
import sys
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, urlsplit

import typer

from msgxctl import options, show
from msgxctl.failure import Failure, Status, misused, refuse
from msgxctl.place import Place, bounded, read, reason, shown, tls

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
        self._url = _url(place.api)
        self._timeout = place.timeout
        self._tls = tls(place)

    def land(self, text: bytes) -> int:
        """Post a message; return the mailbox id.

        Raises:
            Failure: FAILED: refused, nothing landed; AWAY: the api does not answer.
        """
        status, told = self._post(text)
        if status != HTTPStatus.OK:
            away = status == HTTPStatus.SERVICE_UNAVAILABLE
            raise Failure(Status.AWAY if away else Status.FAILED, _words(told, status))
        try:
            return int(json.loads(told)["body"])
        except (ValueError, KeyError, TypeError):
            refuse("what answers at this address is not the api")

    def _post(self, text: bytes) -> tuple[int, bytes]:
        path = f"{self._url.path.rstrip('/')}/cminmsgs/send"
        kind = {"Content-Type": "application/xml; charset=utf-8"}
        with closing(self._connection()) as connection:
            try:
                connection.connect()
            except (OSError, UnicodeError) as error:  # of a name that no host has, too
                why = f"the api does not answer: {reason(error)}"
                raise Failure(Status.AWAY, why) from None
            try:
                # Whoever refuses a message early takes no more of it, and says why.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request("POST", path, text, kind)
                answer = connection.getresponse()
                return answer.status, answer.read(_LONGEST_ANSWER)
            except (OSError, HTTPException) as error:
                why = f"the api broke off: {reason(error)}; the message may have landed"
                raise Failure(Status.AWAY, why) from None

    def _connection(self) -> HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "http":
            return HTTPConnection(host, port, timeout=self._timeout)
        return HTTPSConnection(host, port, timeout=self._timeout, context=self._tls)


def _url(told: str) -> SplitResult:
    try:
        url = urlsplit(told)
        fits = told.isascii() and told.isprintable() and " " not in told
        if fits and url.scheme in ("http", "https") and url.hostname and url.port != 0:
            return url
    except ValueError:  # of the port, too
        pass
    misused("the api's address must be an http or https URL")


def _words(told: bytes, code: int) -> str:
    """Return what the api says of a failure: its envelope's message."""
    try:
        words = json.loads(told)["message"]
    except (ValueError, KeyError, TypeError):
        words = None
    return f"{words if isinstance(words, str) else 'no reason given'} ({code})"


def text_of(file: Path) -> bytes:
    """Return what a file or standard input holds.

    Raises:
        Failure: it cannot be read.
    """
    if file == _STDIN:
        return bounded(sys.stdin.buffer, "standard input")
    return read(file, "the file")
