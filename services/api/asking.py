"""Requests to the AODB for HTTP clients: register, show, list (C-8, R27, R33). The dispatcher
sends them."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from msgx.domain.requests import NotAskable, RequestState, RequestType, Wish
from msgx.domain.span import span
from msgx.settings import Airport, Request
from msgx.store import req_register
from msgx.store.req_register import Row
from services.api.errors import Busy, Missing, Wrong
from services.api.records import Records

_BY: Final = "api"
T = TypeVar("T")


class Asking:
    """What the routes do with REQ_TRACK; every function blocks and may raise Fault while
    PostgreSQL is away."""

    def __init__(self, records: Records, settings: Request, airport: Airport) -> None:
        self._records = records
        self._settings = settings
        self._airport = airport

    def plan(self, start: str, end: str) -> int:
        """Register a request for the flights of a span and return its number.

        Raises:
            Wrong: the span is none.
            Busy: too many requests wait.
        """
        zone, day_cut = self._airport.zone, self._airport.day_cut

        def wish() -> Wish:
            ends = span(start, end, zone=zone, day_cut=day_cut)
            return Wish.plan(*ends, longest=self._settings.max_span)

        return self._register(_asked(wish))

    def reference(self, category: str, rtyp: str | None) -> int:
        """Register a request for reference data and return its number.

        Raises:
            Wrong: there is no such category or resource.
            Busy: too many requests wait.
        """
        return self._register(_asked(lambda: Wish.reference(category, rtyp)))

    def get(self, req_id: int) -> dict[str, Any]:
        """Return one request as clients see it.

        Raises:
            Missing: there is none.
        """
        with self._records.use("reading a request") as conn:
            found = req_register.get(conn, req_id)
        if found is None:
            raise Missing(f"there is no request {req_id}")
        return self._shown(found)

    def latest(
        self,
        *,
        before: int | None,
        limit: int,
        state: RequestState | None,
        type: RequestType | None,
        styp: str | None,
    ) -> list[dict[str, Any]]:
        """Return requests, the newest first."""
        with self._records.use("listing requests") as conn:
            found = req_register.latest(
                conn, before=before, limit=limit, state=state, type=type, styp=styp
            )
        return [self._shown(one) for one in found]

    def _register(self, wish: Wish) -> int:
        with self._records.use("registering a request") as conn:
            req_id = req_register.register(conn, wish, by=_BY, limit=self._settings.max_pending)
        if req_id is None:
            raise Busy(f"{self._settings.max_pending} requests wait already")
        return req_id

    def _shown(self, one: Row) -> dict[str, Any]:
        answer = None
        if one.matched_msg_id is not None:
            lag = one.matched_lag
            answer = {
                "msgId": one.matched_msg_id,
                "by": one.matched_by,
                "at": self._time(one.matched_at),
                "lagSeconds": None if lag is None else lag.total_seconds(),
            }
        return {
            "id": one.req_id,
            "type": one.type,
            "styp": one.styp,
            "rtyp": one.rtyp,
            "startDate": self._time(one.begin),
            "endDate": self._time(one.end),
            "state": one.state,
            "stateSince": self._time(one.state_since),
            "registeredAt": self._time(one.registered_at),
            "registeredBy": one.registered_by,
            "reason": one.last_error,
            "seqn": one.seqn,
            "sentAt": self._time(one.sent_at),
            "rowId": one.out_id,
            "expiresAt": self._time(one.expires_at),
            "answer": answer,
            "closedAt": self._time(one.closed_at),
        }

    def _time(self, at: datetime | None) -> str | None:
        return None if at is None else at.astimezone(self._airport.zone).isoformat()


def _asked(read: Callable[[], T]) -> T:
    try:
        return read()
    except NotAskable as refusal:
        raise Wrong(str(refusal)) from None
