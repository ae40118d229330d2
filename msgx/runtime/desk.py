"""What every administrative gRPC service shares: one connection, fenced acts, clear refusals
(R35, R55)."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, NoReturn

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from msgx.domain.failure import Away, Fault
from msgx.rpc.v1.admin_pb2 import Admin
from msgx.runtime.leadership import Leadership, Standby
from msgx.runtime.session import Session
from msgx.store import service_term
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection

log = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 2.0  # for the call before; health must find a thread
_PAGE: Final = 100
_LONGEST_PAGE: Final = 1000
_LONGEST_TEXT: Final = 500
_LONGEST_WORD: Final = 64


class Refusal(Exception):
    """What is asked cannot be done as it is asked; the text says why."""


class Desk:
    """Where the calls of operators are answered: they come from several threads and share one
    connection."""

    def __init__(self, leadership: Leadership | None, session: Session) -> None:
        self._leadership = leadership
        self._session = session
        self._turn = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Give the connection, to one call at a time.

        Raises:
            Away: PostgreSQL is away, or the call before is still at work.
        """
        if not self._turn.acquire(timeout=_PATIENCE_SECONDS):
            raise Away("another call is still at work")
        try:
            with self._session.use("answering an operator") as conn:
                yield conn
        finally:
            self._turn.release()

    @contextmanager
    def fenced(self) -> Iterator[Connection]:
        """Give a transaction that only the leading instance can commit (R13).

        Raises:
            Standby: another instance leads.
            Away: as `connection`.
        """
        if self._leadership is None:
            raise Standby("this service leads nothing")
        term = self._leadership.require()
        with self.connection() as conn, conn.transaction():
            service_term.share(conn, self._leadership.service, term)
            yield conn

    @contextmanager
    def answering(self, context: grpc.ServicerContext) -> Iterator[None]:
        """Tell a caller what was wrong, in the words of the status codes."""
        try:
            yield
        except Refusal as refusal:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(refusal))
        except Standby as standby:
            _abort(context, grpc.StatusCode.FAILED_PRECONDITION, str(standby))
        except Away as away:
            _abort(context, grpc.StatusCode.UNAVAILABLE, away.text)
        except Fault as fault:  # another try brings nothing else
            log.exception("call failed")
            _abort(context, grpc.StatusCode.INTERNAL, f"a defect: {fault.text}")
        except Exception:  # its words are not for callers
            log.exception("call failed")
            _abort(context, grpc.StatusCode.INTERNAL, "a defect: see the log of the service")

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._session.close()


def act_of(admin: Admin) -> Act:
    """Return who acts, and why.

    Raises:
        Refusal: one of the two is missing or too long.
    """
    operator, reason = admin.operator.strip(), admin.reason.strip()
    if not operator or not reason:
        raise Refusal("admin.operator and admin.reason must say who acts, and why")
    if max(len(operator), len(reason)) > _LONGEST_TEXT:
        raise Refusal(f"operator and reason take at most {_LONGEST_TEXT} characters")
    return Act(operator, reason)


def page_of(limit: int) -> int:
    """Return the length of a page; 0 asks for the usual one.

    Raises:
        Refusal: it is none, or too long.
    """
    if not 0 <= limit <= _LONGEST_PAGE:
        raise Refusal(f"limit must be from 0 to {_LONGEST_PAGE}")
    return limit or _PAGE


def word_of(given: str, name: str) -> str | None:
    """Return the short word that parameter `name` gives; None: it gives none.

    Raises:
        Refusal: it is no short word.
    """
    if len(given) > _LONGEST_WORD or not given.isprintable():
        raise Refusal(f"{name} must be a short word")
    return given or None


def stamp(at: datetime) -> Timestamp:
    """Return an instant as messages carry it."""
    told = Timestamp()
    told.FromDatetime(at)
    return told


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, text: str) -> NoReturn:
    context.abort(code, text)
    raise AssertionError("abort returns never")
