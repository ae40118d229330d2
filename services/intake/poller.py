"""Scanning (R10): three rounds through the unmarked rows, each in bounded pages.

*Fast* goes on from the highest id seen, at every poll. *Near* repeats the last ids and finds
what committed late (R11). *Full* begins at the first row: alone at start-up, so that a backlog
is registered in order, then for a small share of the time. The empty mark alone decides
(INV-2b); an id only says where to look.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from msgx import clock
from msgx.mailbox.inbox import Mailbox, Row
from msgx.runtime.leadership import Standby
from msgx.runtime.session import Session
from msgx.settings import Intake
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.intake.register import Register

_NO_REST: Final = timedelta()
_SHOWN: Final = 10

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Finding:
    """Rows of a full round that an operator should look at: how many, and the first few."""

    count: int = 0
    first: tuple[int, ...] = ()

    def add(self, ids: Sequence[int]) -> None:
        """Count `ids`."""
        self.count += len(ids)
        self.first += tuple(ids[: _SHOWN - len(self.first)])


@dataclass(slots=True, kw_only=True)
class Round:
    """A walk through ascending ids; `after` is where the next page begins."""

    after: int
    until: int
    zero_marks: Finding = field(default_factory=Finding)  # B54
    returned: Finding = field(default_factory=Finding)  # R52


class Poller:
    """One loop's work: each step looks at one page of every round that is due."""

    def __init__(
        self,
        *,
        session: Session,
        mailbox: Mailbox,
        term: Callable[[], int],
        intake: Intake,
        batch: int,
        board: Board,
    ) -> None:
        self._board = board
        self._mailbox = mailbox
        self._register = Register(session, mailbox, board)
        self._require = term
        self._settings = intake
        self._batch = batch
        self._told = (Finding(), Finding())
        self._term: int | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Know nothing: after a start, and after leadership was lost (R13)."""
        self._started = False
        self._highest = 0
        self._near: Round | None = None
        self._full: Round | None = None
        self._near_due = self._full_due = clock.ticks()
        self._full_ended: float | None = None
        self._board.withdraw(metrics.FULL_INTERVAL, metrics.RETURNED_MARKS, metrics.ZERO_MARKS)

    def step(self) -> timedelta:
        """Register what a page of each due round finds; a full page is followed at once.

        Raises:
            Away: PostgreSQL or the mailbox is away; the next step repeats the page.
            Standby: this instance does not lead.
        """
        try:
            term = self._require()
        except Standby:
            self._term = None
            self._begin_anew()
            raise
        if term != self._term:
            self._begin_anew()
            self._term = term
        if not self._started:
            self._started = self._full_page(term, until=None)
            return _NO_REST
        more = self._fast_page(term)
        more = self._near_page(term) or more
        self._full_page_if_due(term)
        return _NO_REST if more else self._settings.poll_interval

    def _fast_page(self, term: int) -> bool:
        """Go on from the highest id seen; tell whether more is waiting."""
        end = self._mailbox.reach(self._highest, self._settings.near_window)
        if end is None:
            return False
        rows = self._scan("fast", self._highest, end)
        self._register.page(rows, term)
        full = len(rows) == self._batch
        self._highest = rows[-1].msg_id if full else end
        return full

    def _near_page(self, term: int) -> bool:
        """Look at the last ids again for what committed late; tell whether more is waiting."""
        if self._near is None:
            if clock.ticks() < self._near_due:
                return False
            window = self._settings.near_window
            self._near = Round(after=max(0, self._highest - window), until=self._highest)
        rows = self._scan("near", self._near.after, self._near.until)
        self._register.page(rows, term)
        if len(rows) == self._batch:
            self._near.after = rows[-1].msg_id
            return True
        self._near = None
        self._board.add(metrics.ROUNDS, round="near")
        self._near_due = clock.ticks() + self._settings.near_interval.total_seconds()
        return False

    def _full_page_if_due(self, term: int) -> None:
        """Look at one page from the beginning, if that stays within its share of the time."""
        if (begun := clock.ticks()) < self._full_due:
            return
        complete = self._full_page(term, until=self._highest)
        spent = clock.ticks() - begun
        rest = spent / self._settings.full_scan_duty - spent
        if complete:  # a short table needs no more full rounds than near ones
            rest = max(rest, self._settings.near_interval.total_seconds())
        self._full_due = clock.ticks() + rest

    def _full_page(self, term: int, *, until: int | None) -> bool:
        """Look at the next page of the full round, a new one up to `until` if none is under
        way; tell whether it is complete. The round of the start-up ends at what is there now,
        and from its end the fast round goes on."""
        if self._full is None:
            until = self._mailbox.highest() if until is None else until
            self._full = Round(after=0, until=until)
        full = self._full
        end = self._mailbox.reach(full.after, self._settings.near_window)
        if end is not None:
            end = min(end, full.until)
            rows = self._scan("full", full.after, end)
            full.returned.add(self._register.page(rows, term))
            full.zero_marks.add([row.msg_id for row in rows if row.zero_mark])
            full.after = rows[-1].msg_id if len(rows) == self._batch else end
        self._highest = max(self._highest, full.after)
        if end is not None and full.after < full.until:
            return False
        self._full = None
        self._tell(full)
        return True

    def _scan(self, kind: str, after: int, until: int) -> Sequence[Row]:
        rows = self._mailbox.scan(after, self._batch, until=until)
        self._board.add(metrics.SCANNED, len(rows), round=kind)
        return rows

    def _tell(self, full: Round) -> None:
        """Say what a full round found, and warn once for each change."""
        now, before = clock.ticks(), self._full_ended
        self._full_ended = now
        if before is not None:
            self._board.set(metrics.FULL_INTERVAL, now - before)
        self._board.add(metrics.ROUNDS, round="full")
        self._board.set(metrics.RETURNED_MARKS, full.returned.count)
        self._board.set(metrics.ZERO_MARKS, full.zero_marks.count)
        was_zero, was_returned = self._told
        if full.zero_marks.count and full.zero_marks != was_zero:
            _warn("zero dates as marks, taken as not processed", full.zero_marks)
        if full.returned.count and full.returned != was_returned:
            _warn("confirmed marks are gone from the mailbox", full.returned)
        self._told = full.zero_marks, full.returned


def _warn(event: str, finding: Finding) -> None:
    log.warning(event, extra={"count": finding.count, "first": list(finding.first)})
