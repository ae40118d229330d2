"""Backfill: write the owed marks into the mailbox, bounded, fair, and confirmed row by row
(INV-7, INV-8)."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgx.domain.failure import Away
from msgx.domain.marking import Marking, Owed
from msgx.mailbox.inbox import Mailbox
from msgx.runtime.session import Session
from msgx.settings import Pipeline
from msgx.store import backfill, service_term
from msgx.store.connect import Connection
from msgx.store.service_term import Service
from services.intake.decide.backfill import (
    Abandon,
    Decision,
    Postpone,
    Rules,
    Settle,
    decide,
)

_NO_REST: Final = timedelta()
_SHOWN: Final = 10

log = logging.getLogger(__name__)


class Backfiller:
    """One loop's work. The rows are locked from the claim to the confirmation, across the
    bounded write to the mailbox, so a replay cannot come between (R43)."""

    def __init__(
        self,
        *,
        session: Session,
        mailbox: Mailbox,
        term: Callable[[], int],
        pipeline: Pipeline,
    ) -> None:
        self._session = session
        self._mailbox = mailbox
        self._term = term
        self._batch = pipeline.backfill_batch
        self._alarm_attempts = pipeline.backfill_max_attempts
        self._idle = pipeline.backfill_backoff  # nothing postponed is due earlier
        self._rules = Rules(
            overdue=pipeline.overdue_backfill,
            backoff=pipeline.backfill_backoff,
            backoff_limit=pipeline.backfill_backoff_limit,
        )

    def step(self) -> timedelta:
        """Bring one batch of owed marks forward; a full batch is followed at once.

        Raises:
            Away: PostgreSQL or the mailbox is away; what failed is postponed.
            Standby: this instance does not lead.
        """
        term = self._term()
        with self._session.use("backfilling") as conn:
            if not backfill.any_owed(conn, self._rules.overdue):
                return self._idle
            with conn.transaction():
                now = service_term.share(conn, Service.INTAKE, term)
                owed = backfill.claim(conn, self._rules.overdue, self._batch)
                markings, away = self._mark(owed)
                decisions = [
                    decide(one, markings.get(one.msg_id), now=now, rules=self._rules)
                    for one in owed
                ]
                _record(conn, decisions)
        self._tell(owed, decisions)
        if away is not None:
            raise away
        return _NO_REST if len(owed) == self._batch else self._idle

    def _mark(self, owed: Sequence[Owed]) -> tuple[Mapping[int, Marking], Away | None]:
        """Write the marks; the mailbox's absence is an outcome too, to be recorded."""
        marks: list[tuple[int, datetime]] = [(one.msg_id, one.finished_at) for one in owed]
        try:
            return self._mailbox.mark(marks), None
        except Away as away:
            return {}, away

    def _tell(self, owed: Sequence[Owed], decisions: Sequence[Decision]) -> None:
        counts = Counter(type(decision).__name__.lower() for decision in decisions)
        log.debug("backfilled", extra={"outcomes": dict(counts)})
        if given_up := [one for one in decisions if isinstance(one, Abandon)]:
            log.warning(
                "marks abandoned",
                extra={
                    "count": len(given_up),
                    "first": {one.msg_id: one.reason for one in given_up[:_SHOWN]},
                },
            )
        stubborn = [
            one.msg_id
            for one, decision in zip(owed, decisions, strict=True)
            if isinstance(decision, Postpone) and one.attempts + 1 == self._alarm_attempts
        ]
        if stubborn:
            log.warning(
                "marks keep failing",
                extra={
                    "count": len(stubborn),
                    "attempts": self._alarm_attempts,
                    "first": stubborn[:_SHOWN],
                },
            )


def _record(conn: Connection, decisions: Sequence[Decision]) -> None:
    """Write every decision of the batch."""
    backfill.settle(conn, [one.msg_id for one in decisions if isinstance(one, Settle)])
    backfill.postpone(
        conn, [(one.msg_id, one.until) for one in decisions if isinstance(one, Postpone)]
    )
    backfill.abandon(
        conn, [(one.msg_id, one.reason) for one in decisions if isinstance(one, Abandon)]
    )
