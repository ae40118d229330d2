"""LISTEN and NOTIFY: they only shorten a wait; polling alone is enough for correctness."""

from datetime import timedelta
from typing import Final

from psycopg import sql

from msgx.store.connect import Connection

REGISTERED: Final = "msgx_registered"  # intake has new rows
RELEASED: Final = "msgx_released"  # the processor has released events
ROUTED: Final = "msgx_routed"  # the processor has handed a head over
EXECUTED: Final = "msgx_executed"  # a head that was handed over is finished


def listen(conn: Connection, channel: str) -> None:
    """Hear `channel` on this connection from now on; a second time is no change."""
    conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))


def wait(conn: Connection, limit: timedelta) -> None:
    """Return at the next notification, or after `limit`."""
    for _ in conn.notifies(timeout=limit.total_seconds(), stop_after=1):
        return
