"""Does the DSN lead to a session of our own? A pooler that lends sessions by the transaction
breaks every lock and every setting that a session holds (R13)."""

import select
from contextlib import closing
from datetime import timedelta
from typing import Final

import psycopg
from psycopg.pq import DiagnosticField

from msgx import clock
from msgx.domain.failure import Away, Unfit
from msgx.settings import Database
from msgx.store.connect import Connection, bare

_WHO: Final = b"SELECT pg_backend_pid()"
_BEGIN: Final = b"BEGIN"
_COMMIT: Final = b"COMMIT"
_NOT_THERE: Final = b"08P01"  # what a pooler that lends by the statement says to BEGIN

REFUSAL: Final = (
    "MSGX_DATABASE__DSN leads through a pooler that lends sessions by the transaction, or lends"
    " too few: give PostgreSQL's own address, or a pooler in session mode"
)


class _Late(Exception):
    """No answer came in time."""


def refuse(database: Database) -> None:
    """Return if a session stays ours while a second connection holds a transaction open.

    Who is late is asked once more: a machine that stood still is no pooler.

    Raises:
        Unfit: the session changed, or was twice not lent in time.
        Away: the server does not answer.
    """
    try:
        _look(database)
    except _Late:
        try:
            _look(database)
        except _Late:
            raise Unfit(REFUSAL) from None


def _look(database: Database) -> None:
    """Compare sessions. Nothing is set on either, since a pooler would hand it on to
    strangers."""
    patience = database.connect_timeout
    try:
        with (
            closing(bare(database, name="start")) as ours,
            closing(bare(database, name="start")) as other,
        ):
            first = _ask(ours, _WHO, patience)
            _ask(other, _BEGIN, patience)
            theirs = _ask(other, _WHO, patience)
            # Twice, and after it too: one that lends in turn may give us the same again.
            again = [_ask(ours, _WHO, patience) for _ in range(2)]
            _ask(other, _COMMIT, patience)
            again += [_ask(ours, _WHO, patience) for _ in range(2)]
    except psycopg.Error as error:
        raise Away("PostgreSQL does not accept our connection") from error
    if theirs == first or any(one != first for one in again):
        raise Unfit(REFUSAL)


def _ask(conn: Connection, statement: bytes, patience: timedelta) -> bytes | None:
    """Return the one value that `statement` brings, if it brings any.

    libpq itself waits without an end, and a time-out of the server's would have to be set.
    """
    wire = conn.pgconn
    wire.send_query(statement)
    deadline = clock.ticks() + patience.total_seconds()
    value = None
    while True:
        while wire.is_busy():
            left = max(0.0, deadline - clock.ticks())
            if not select.select([wire.socket], [], [], left)[0]:
                raise _Late
            wire.consume_input()
        result = wire.get_result()
        if result is None:
            return value
        if result.error_field(DiagnosticField.SQLSTATE) == _NOT_THERE:
            raise Unfit(REFUSAL)
        if result.error_message:
            raise psycopg.OperationalError("refused")
        value = result.get_value(0, 0) if result.ntuples else value
