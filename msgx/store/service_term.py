"""SERVICE_TERM: which instance of a service leads, as a growing number. Each service writes its
own row."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from psycopg.rows import args_row

from msgx.store.connect import Connection


class Service(StrEnum):
    """The deployables, in the order of their advisory locks."""

    INTAKE = "intake"
    PROCESSOR = "processor"
    REFDATA = "refdata"
    DISPATCHER = "dispatcher"
    API = "api"


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads a service, or did so last, and since when."""

    term: int
    instance: str
    since: datetime


class Deposed(RuntimeError):
    """A newer term exists: whatever this instance was doing must not be written (R13)."""


class LockLost(RuntimeError):
    """A lock that we took was not held any more: a defect, or somebody else's hand."""


LOCK_SPACE: Final = 0x6D736778
"""First key of every advisory lock of ours; the second is the service's place, or
`_PIPELINE`."""

_PIPELINE: Final = 100

LOCK_PIPELINE: Final = f"SELECT pg_advisory_lock({LOCK_SPACE}, {_PIPELINE})"
LOCK_PIPELINE_BRIEFLY: Final = f"SELECT pg_advisory_xact_lock({LOCK_SPACE}, {_PIPELINE})"
UNLOCK_PIPELINE: Final = f"SELECT pg_advisory_unlock({LOCK_SPACE}, {_PIPELINE})"
UNLOCK_PIPELINE_AT_END: Final = f"{UNLOCK_PIPELINE} FROM ({LOCK_PIPELINE_BRIEFLY}) AS kept"
"""PIPELINE_LOCK: held from identity to finish by whoever executes the head; also by history
cleanup. Briefly: to the end of the transaction. Unlocked at its end: the transaction takes the
lock over from its session, so that COMMIT frees it, and nothing before."""

RELAXED: Final = """
    SELECT term, msgx_now() AS now, set_config('synchronous_commit', 'off', true)
      FROM service_term WHERE service = %(service)s FOR SHARE
"""
"""The term row held, for a transaction whose loss only repeats it: its commit waits for no
disk."""

DURABLE: Final = "SET LOCAL synchronous_commit TO DEFAULT"
"""For a transaction with a RELAXED part that somebody is told of: its commit waits again."""

SHARE_NAMED: Final = """
    SELECT term, msgx_now() AS now FROM service_term WHERE service = %(service)s FOR SHARE
"""
"""The term row held, as a part of a larger statement."""

_TRY_LOCK: Final = "SELECT pg_try_advisory_lock(%s, %s)"
# The server's idle time-outs begin where a pipeline ends, and a stray Flush stops them: a
# client that stands still inside one keeps session and locks. Liveness is real time, so
# clock_timestamp() and not msgx_now().
_END_SILENT: Final = """
    SELECT pg_terminate_backend(holder.pid)
      FROM pg_locks AS held JOIN pg_stat_activity AS holder USING (pid)
     WHERE held.locktype = 'advisory' AND held.granted
       AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (held.classid, held.objid, held.objsubid) = (%s::oid, %s::oid, 2)
       AND holder.wait_event = 'ClientRead'
       AND holder.state_change < clock_timestamp() - make_interval(secs => %s)
"""
# By a function of the owner's: a service may not end the session of another one.
_END_SILENT_PIPELINE: Final = """
    SELECT end_silent_pipeline(
        extract(epoch FROM current_setting('idle_session_timeout')::interval)::double precision)
"""
_TAKE_OVER: Final = """
    UPDATE service_term SET term = term + 1, instance = %s, since = msgx_now()
     WHERE service = %s
 RETURNING term
"""
_LEADER: Final = "SELECT term, instance, since FROM service_term WHERE service = %s"
SHARE: Final = """
    SELECT term, msgx_now() FROM service_term WHERE service = %s FOR SHARE
"""

_NOW: Final = "SELECT msgx_now()"


def try_lock(conn: Connection, service: Service) -> bool:
    """Take the lock of `service` for this session, if nobody has it."""
    row = conn.execute(_TRY_LOCK, (LOCK_SPACE, list(Service).index(service))).fetchone()
    return row is not None and bool(row[0])


def end_silent(conn: Connection, service: Service, seconds: float) -> bool:
    """End the session that holds the lock of `service` if it said nothing for so long; where no
    pipeline is open, the server does so by itself (R13, B42)."""
    place = list(Service).index(service)
    return bool(conn.execute(_END_SILENT, (LOCK_SPACE, place, seconds)).fetchall())


def end_silent_pipeline(conn: Connection) -> bool:
    """End the session that holds PIPELINE_LOCK, whosever it is, if it said nothing for as long
    as this leading session may be silent itself.

    Raises:
        psycopg.errors.InsufficientPrivilege: the owner of the schema may not.
    """
    row = conn.execute(_END_SILENT_PIPELINE).fetchone()
    return row is not None and bool(row[0])


def take_over(conn: Connection, service: Service, instance: str) -> int:
    """Begin a new term of `service` and return its number; waits for transactions of the old
    one."""
    row = conn.execute(_TAKE_OVER, (instance, service)).fetchone()
    assert row is not None, "migrations insert every service"  # noqa: S101
    return int(str(row[0]))


def leader(conn: Connection, service: Service) -> Leader | None:
    """Return who leads; None: nobody has led yet."""
    cursor = conn.cursor(row_factory=args_row(Leader))
    found = cursor.execute(_LEADER, (service,)).fetchone()
    return found if found is not None and found.term else None


def share(conn: Connection, service: Service, term: int, *, relaxed: bool = False) -> datetime:
    """Begin a fenced transaction: hold the term row and return the transaction's `now` (R13,
    R36). A `relaxed` one waits for no disk: losing it must only repeat it.

    Raises:
        Deposed: another instance leads.
    """
    if relaxed:
        row = conn.execute(RELAXED, {"service": service}).fetchone()
    else:
        row = conn.execute(SHARE, (service,)).fetchone()
    return judge(row, service, term)


def unlock_at_end(conn: Connection) -> None:
    """Let PIPELINE_LOCK go with this transaction: its last statement (B39).

    Raises:
        LockLost: the lock was not held.
    """
    released(conn.execute(UNLOCK_PIPELINE_AT_END).fetchone() == (True,))


def released(was_held: object) -> None:
    """Return if an unlock answered that the lock was held.

    Raises:
        LockLost: it was not.
    """
    if was_held is not True:
        raise LockLost("PIPELINE_LOCK was not held at its release")


def now(conn: Connection) -> datetime:
    """Return the time of this transaction (R36)."""
    row = conn.execute(_NOW).fetchone()
    assert row is not None  # noqa: S101
    at = row[0]
    assert isinstance(at, datetime)  # noqa: S101
    return at


def judge(row: tuple[object, ...] | None, service: Service, term: int) -> datetime:
    """Return `now` of a row that `SHARE` brought.

    Raises:
        Deposed: another instance leads.
    """
    if row is None or row[0] != term:
        raise Deposed(f"{service} has a newer term than {term}")
    now = row[1]
    assert isinstance(now, datetime)  # noqa: S101
    return now
