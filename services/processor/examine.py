"""The first round trip of an attempt: lock, fence, head, identity, and the state that a
decision needs.

Everything of it stands in the transaction that the caller opened, so the identity is bound if
and only if
what follows is committed; a redo finds its own binding (INV-9, R57).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg import Cursor

from msgx.domain.flight import EntryKind
from msgx.domain.message import Adft, Fdel, Flop, Message
from msgx.store import flight, flight_journal, identity_ledger, proc_state, service_term
from msgx.store.connect import Connection
from msgx.store.proc_state import Head
from msgx.store.service_term import Service
from services.processor.decide.world import Floor, World
from services.processor.fetch import Fetched


class NotHead(RuntimeError):
    """Another message is the head now: a late lower id was registered (INV-3, B13)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What stood in PostgreSQL when the attempt began."""

    now: datetime
    head: Head
    holder: int | None = None  # the message that has this identity; None: not readable
    same_body: bool = True
    entries: dict[str, EntryKind] = field(default_factory=dict)  # what this message already did
    world: World = field(default_factory=World)


def examine(conn: Connection, fetched: Fetched, term: int) -> Situation:
    """Lock the pipeline and read the situation of the head.

    Raises:
        NotHead: the fetched message is not the head any more.
        Deposed: another processor leads.
    """
    message = fetched.content if isinstance(fetched.content, Message) else None
    conn.execute(service_term.LOCK_PIPELINE)
    fence = conn.execute(service_term.SHARE, (Service.PROCESSOR,))
    head = conn.execute(proc_state.HEAD)
    if message is not None:
        binding = _bind(conn, fetched.msg_id, message)
        done = conn.execute(flight_journal.ENTRIES, (fetched.msg_id,))
        reading = _read(conn, _targets(message))

    now = service_term.judge(fence.fetchone(), Service.PROCESSOR, term)
    found = proc_state.head_of(head)
    if found is None or found.msg_id != fetched.msg_id:
        raise NotHead(f"message {fetched.msg_id} is not the head")
    if message is None:
        return Situation(now=now, head=found)
    holder, digest = binding.fetchone() or (None, None)
    return Situation(
        now=now,
        head=found,
        holder=holder,
        same_body=digest == message.body_digest,
        entries={flid: EntryKind(kind) for flid, kind in done.fetchall()},
        world=_world(*reading),
    )


def read_world(conn: Connection, flids: Sequence[str]) -> World:
    """Return the named flights, their codeshares and the floors of those that are gone."""
    return _world(*_read(conn, flids))


def _bind(conn: Connection, msg_id: int, message: Message) -> Cursor[Any]:
    identity = message.meta.identity
    return conn.execute(
        identity_ledger.BIND,
        {"key": identity, "digest": message.body_digest, "msg_id": msg_id},
    )


def _targets(message: Message) -> Sequence[str]:
    """Return the flights to read at once; a day plan reads its own, batch by batch."""
    match message.payload:
        case Flop() | Fdel() | Adft():
            return message.flids
        case _:
            return ()


def _read(
    conn: Connection, flids: Sequence[str]
) -> tuple[Cursor[Any], Cursor[Any], Cursor[Any]]:
    names = list(flids)
    return (
        conn.execute(flight.LOAD, (names,)),
        conn.execute(flight.SHARERS, (names,)),
        conn.execute(flight.FLOORS, (names,)),
    )


def _world(flights: Cursor[Any], sharers: Cursor[Any], floors: Cursor[Any]) -> World:
    return World(
        flights=flight.loaded(flights),
        sharers=flight.gathered(sharers),
        floors={
            flid: Floor(state_version=version, life=life)
            for flid, version, life in floors.fetchall()
        },
    )
