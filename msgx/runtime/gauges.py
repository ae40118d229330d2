"""Reading the gauges: a loop that asks the tables now and then, so that no scrape waits for
PostgreSQL."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeAlias

from msgx import clock
from msgx.runtime.leadership import Leadership, Standby
from msgx.runtime.session import Session
from msgx.store.connect import Connection
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from msgx.telemetry.metric import Gauge, Values

Reading: TypeAlias = tuple[Gauge, Values]


class Gauges:
    """Puts what a service reads from its tables on the board, while this instance leads: the
    figures of a standby would be counted twice."""

    def __init__(
        self,
        board: Board,
        leadership: Leadership,
        session: Session,
        read: Callable[[Connection], Iterable[Reading]],
        period: timedelta,
    ) -> None:
        self._board = board
        self._leadership = leadership
        self._session = session
        self._read = read
        self._period = period
        self._known: frozenset[Gauge] = frozenset()
        self._read_at: float | None = None
        board.ask(metrics.GAUGES_AGE, self._age)

    def step(self) -> timedelta:
        """Read every gauge once.

        Raises:
            Standby: another instance leads, and tells its figures.
            Away: PostgreSQL is away; the last figures stay, and their age grows.
        """
        try:
            self._leadership.require()
        except Standby:
            self._read_at = None
            self._board.withdraw(*self._known)
            raise
        with self._session.use("reading figures") as conn:
            readings = tuple(self._read(conn))
        for gauge, values in readings:
            self._board.put(gauge, values)
        self._known = frozenset(gauge for gauge, _ in readings)
        self._read_at = clock.ticks()
        return self._period

    def _age(self) -> float | None:
        read_at = self._read_at
        return None if read_at is None else clock.ticks() - read_at

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
