"""The projection step: what was committed, shown in Redis; and the rebuild when Redis lost it
(R15)."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Final

from msgx import clock
from msgx.domain.failure import Away
from msgx.domain.flight import Flight, Sharer, encode, render
from msgx.projection.write import Field, Incomplete, Projection
from msgx.store import flight
from msgx.store.connect import Connection
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.processor.decide.world import World
from services.processor.decide.writes import mafl
from services.processor.examine import read_world

log = logging.getLogger(__name__)

_CHUNK: Final = 200


class Projector:
    """Keeps Redis equal to PostgreSQL. Every call is made under PIPELINE_LOCK, but for
    `complete`."""

    def __init__(
        self, projection: Projection, zone: tzinfo, check_seconds: float, board: Board
    ) -> None:
        self._board = board
        self._projection = projection
        self._zone = zone
        self._check_seconds = check_seconds
        self._checked: tuple[int, float] | None = None  # term, ticks

    def show(self, conn: Connection, fields: Sequence[Field], *, term: int) -> None:
        """Show the committed flights; rebuild everything if Redis lost its projection.

        Raises:
            Away: Redis does not answer: the message stays unfinished (INV-23).
            Deposed: a newer processor writes.
        """
        if not fields:
            return
        try:
            self._projection.put(fields, term=term)
        except Incomplete:
            self._board.add(metrics.LOST)
            self.rebuild(conn, term=term)

    def put(self, fields: Sequence[Field], *, term: int) -> None:
        """Show the committed flights, and leave a rebuild to the pump.

        Raises:
            Away: Redis does not answer, or lost its projection.
            Deposed: a newer processor writes.
        """
        if not fields:
            return
        try:
            self._projection.put(fields, term=term)
        except Incomplete:
            raise Away("the projection is being rebuilt: try again") from None

    def complete(self, *, term: int) -> bool:
        """Tell whether Redis holds a complete projection of ours; asks once a period.

        Raises:
            Away, Deposed: as `show`.
        """
        last = self._checked
        if (
            last is not None
            and last[0] == term
            and clock.ticks() - last[1] < self._check_seconds
        ):
            return True
        try:
            self._projection.check(term=term)
        except Incomplete:
            self._board.add(metrics.LOST)
            self._checked = None
            return False
        self._checked = (term, clock.ticks())
        return True

    def rebuild(self, conn: Connection, *, term: int) -> None:
        """Fill a new key from PostgreSQL in one consistent read and switch to it (R15, R53,
        B18)."""
        with conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            shown = flight.shown(conn)
            self._projection.replace(
                self._fields(conn, shown), flight.versions(conn), term=term
            )
        log.info("projection rebuilt", extra={"flights": len(shown), "term": term})

    def current(self, flights: Mapping[str, Flight], world: World) -> list[Field]:
        """Return what the projection must show of `flights` as they stand: for a redo."""
        return [
            Field(one.flid, one.state_version, self._json(one, mafl(world, one)))
            for one in flights.values()
        ]

    def _fields(self, conn: Connection, flids: Sequence[str]) -> Iterator[Field]:
        for start in range(0, len(flids), _CHUNK):
            part = list(flids[start : start + _CHUNK])
            world = read_world(conn, part)
            yield from self.current(world.flights, world)

    def _json(self, one: Flight, sharers: tuple[Sharer, ...]) -> str | None:
        return encode(render(one, sharers, self._zone)) if one.shown else None
