"""Calls that were refused at the door, on their way to ADMIN_AUDIT: bounded in memory and in
rows, and never waited for."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from msgx import clock
from msgx.store import admin_audit
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

ROWS_A_MINUTE: Final = 20
KINDS: Final = 64
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Denial:
    """A refused call: of which method, from where, and why it was refused."""

    method: str
    peer: str
    reason: str


class Denials:
    """Counts refused calls by kind; what is not kept is counted in the next row."""

    def __init__(self, service: Service, ticks: Callable[[], float] = clock.ticks) -> None:
        self._service = service
        self._ticks = ticks
        self._turn = threading.Lock()
        self._counts: dict[Denial, int] = {}
        self._uncounted = 0  # of kinds that found no place
        self._written: list[float] = []  # when, in the last minute

    def note(self, denial: Denial) -> None:
        """Count a refused call."""
        with self._turn:
            if denial in self._counts or len(self._counts) < KINDS:
                self._counts[denial] = self._counts.get(denial, 0) + 1
            else:
                self._uncounted += 1

    @property
    def waiting(self) -> bool:
        """Tell whether something was counted that is not written."""
        with self._turn:
            return bool(self._counts)

    def keep(self, conn: Connection) -> None:
        """Write what was counted, one row a kind, as far as the minute allows."""
        now = self._ticks()
        self._written = [at for at in self._written if now - at < _MINUTE]
        while len(self._written) < ROWS_A_MINUTE and (taken := self._take()) is not None:
            denial, times, others = taken
            try:
                self._record(conn, denial, times, others)
            except BaseException:
                self._return(denial, times, others)
                raise
            self._written.append(now)

    def _record(self, conn: Connection, denial: Denial, times: int, others: int) -> None:
        method = denial.method.rpartition("/")[2]
        asked: dict[str, object] = {"method": denial.method, "times": times}
        admin_audit.record(
            conn,
            self._service,
            Act(denial.peer, denial.reason),
            f"denied:{method}",
            asked=asked | ({"others": others} if others else {}),
            affected=0,
        )
        log.warning(
            "call refused",
            extra={"method": denial.method, "peer": denial.peer, "times": times},
        )

    def _take(self) -> tuple[Denial, int, int] | None:
        with self._turn:
            if not self._counts:
                return None
            denial = next(iter(self._counts))
            others, self._uncounted = self._uncounted, 0
            return denial, self._counts.pop(denial), others

    def _return(self, denial: Denial, times: int, others: int) -> None:
        with self._turn:
            self._counts[denial] = self._counts.get(denial, 0) + times
            self._uncounted += others
