"""Connections to our PostgreSQL: bounded in every way, UTC, autocommit (transactions are
visible blocks)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus

from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.settings import Database

Connection = psycopg.Connection[tuple[Any, ...]]

_KEEPALIVES: Final = {
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
_REFUSED: Final = "PostgreSQL does not accept our connection"
_CONFIGURE: Final = """
    SELECT set_config(name, value, false)
      FROM unnest(%s::text[], %s::text[]) AS given (name, value)
"""
_TRY_AGAIN: Final = (
    # away, time-out, deadlock, serialisation failure, lock not available
    psycopg.OperationalError,
    psycopg.InterfaceError,  # our side of a lost connection
    psycopg.errors.InsufficientResources,
    psycopg.errors.ReadOnlySqlTransaction,
)
_NEVER: Final = (
    # operational in the driver's eyes, but no later try is another one
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.StatementTooComplex,
    psycopg.errors.TooManyArguments,
)


def connect(
    database: Database,
    *,
    name: str,
    session_timeout_seconds: float | None = None,
    transaction_timeout_seconds: float = 30.0,
    by_key: bool = False,
) -> Connection:
    """Open a connection for `name` (shown in pg_stat_activity).

    `by_key` is for a session that reads and writes single rows by key: its plans are made once
    and never scan a table. `session_timeout_seconds` makes the server end a session that says
    nothing for so long (R13), `transaction_timeout_seconds` one that does so inside a
    transaction.

    Raises:
        Away: the server does not answer, or refuses.
    """
    options: dict[str, str | int] = {
        "timezone": "UTC",
        "statement_timeout": _milliseconds(database.statement_timeout.total_seconds()),
        "lock_timeout": _milliseconds(database.lock_timeout.total_seconds()),
        "idle_in_transaction_session_timeout": _milliseconds(
            session_timeout_seconds or transaction_timeout_seconds
        ),
    }
    if by_key:
        options |= {
            "plan_cache_mode": "force_generic_plan",
            "enable_seqscan": "off",
            "jit": "off",
        }
    if session_timeout_seconds is not None:
        options["idle_session_timeout"] = _milliseconds(session_timeout_seconds)
    conn = bare(database, name=name)
    values = [str(value) for value in options.values()]
    try:
        # Not as options of the start packet: poolers refuse or drop those.
        conn.execute(_CONFIGURE, (list(options), values), prepare=False)
    except psycopg.Error as error:
        conn.close()
        raise Away(_REFUSED) from error
    return conn


def bare(database: Database, *, name: str) -> Connection:
    """Open a connection on which nothing is set yet.

    Raises:
        Away: as `connect`.
    """
    try:
        return psycopg.connect(
            make_conninfo(
                database.dsn.get_secret_value(),
                connect_timeout=max(1, int(database.connect_timeout.total_seconds())),
                application_name=f"msgx-{name}",
                tcp_user_timeout=_milliseconds(database.statement_timeout.total_seconds()),
                **_KEEPALIVES,
            ),
            autocommit=True,
            prepare_threshold=1,
        )
    except psycopg.OperationalError as error:
        raise Away(_REFUSED) from error


@contextmanager
def pipelined(conn: Connection) -> Iterator[None]:
    """Run one transaction in pipeline mode: few round trips, all or nothing.

    A result that is fetched inside has been waited for; the rest, COMMIT included, is checked
    at the end.

    Raises:
        psycopg.Error: nothing was committed, unless the connection broke at COMMIT (B42).
    """
    try:
        with conn.pipeline():
            conn.execute("BEGIN")
            yield
            conn.execute("COMMIT")
    except BaseException:
        if not conn.closed and conn.info.transaction_status is not TransactionStatus.IDLE:
            conn.rollback()
        raise


def fault(error: psycopg.Error, doing: str) -> Fault:
    """Return `error` as a fault: INFRA if the server is away or busy, else PROCESSING (R46)."""
    code = f" ({error.sqlstate or type(error).__name__})"
    if isinstance(error, _TRY_AGAIN) and not isinstance(error, _NEVER):
        return Away(f"PostgreSQL failed {doing}{code}")
    return Fault(ErrorClass.PROCESSING, f"PostgreSQL refused {doing}{code}")


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
