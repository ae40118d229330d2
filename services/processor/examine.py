"""The first round trip of an attempt: lock, fence, head, identity, and the state that a
decision needs.

Everything of it stands in the transaction that the caller opened, so the identity is bound if
and only if what follows is committed; a redo finds its own binding (INV-9, R57)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgx.domain.flight import EntryKind
from msgx.domain.message import Adft, Fdel, Flop, Message
from msgx.domain.replay import Order
from msgx.mailbox.texts import Fetched
from msgx.store import attempt, flight, service_term
from msgx.store.connect import Connection
from msgx.store.flight import Found
from msgx.store.flight_sql import LOAD
from msgx.store.proc_state import Head
from services.processor.decide.world import Floor, World

_AT_ONCE: Final = timedelta()


class Moved(RuntimeError):
    """The situation is not what it was: nothing was written, and all is looked at again."""


class NotHead(Moved):
    """Another message is the head now, since a late lower id was registered (INV-3, B13), or
    the head is not due, or refdata executes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What stood in PostgreSQL when the attempt began."""

    now: datetime
    head: Head
    holder: int | None = None  # the message that has this identity; None: not readable
    same_body: bool = True
    returned: bool = False  # its record has left, and its mailbox row came back unmarked (R02)
    entries: dict[str, EntryKind] = field(default_factory=dict)  # what this message already did
    order: Order | None = None  # how it was put back, if it was (R35)
    world: World = field(default_factory=World)


def examine(conn: Connection, fetched: Fetched, term: int) -> Situation:
    """Lock the pipeline and read the situation of the head.

    Raises:
        NotHead: the fetched message is not the head any more.
        Deposed: another processor leads.
    """
    message = fetched.content if isinstance(fetched.content, Message) else None
    conn.execute(service_term.LOCK_PIPELINE)
    beginning = attempt.begin(
        conn,
        fetched.msg_id,
        identity=None if message is None else message.meta.identity,
        body_digest=None if message is None else message.body_digest,
    )
    if message is not None:
        targets = _targets(message)
        reading = conn.execute(LOAD, (list(targets),)) if targets else None

    begun = attempt.begun(beginning, term)
    if begun.head is None or begun.head.msg_id != fetched.msg_id:
        raise NotHead(f"message {fetched.msg_id} is not the head")
    if begun.head.wait > _AT_ONCE:  # it failed before the late one that was just done (B24)
        raise NotHead(f"message {fetched.msg_id} is not due yet")
    if begun.head.route is not None:
        raise NotHead(f"message {fetched.msg_id} was handed over")
    if message is None:
        return Situation(
            now=begun.now, head=begun.head, entries=begun.entries, order=begun.order
        )
    holder, digest = begun.holder or (None, None)
    return Situation(
        now=begun.now,
        head=begun.head,
        holder=holder,
        same_body=digest == message.body_digest,
        returned=holder == fetched.msg_id and begun.long_before,
        entries=begun.entries,
        order=begun.order,
        world=_world(flight.loaded(reading) if reading is not None else []),
    )


def read_world(conn: Connection, flids: Sequence[str]) -> World:
    """Return the named flights, their codeshares and the floors of those that are gone."""
    return _world(flight.load(conn, flids))


def _targets(message: Message) -> Sequence[str]:
    """Return the flights to read at once; a day plan reads its own, batch by batch."""
    match message.payload:
        case Flop() | Fdel() | Adft():
            return message.flids
        case _:
            return ()


def _world(found: Sequence[Found]) -> World:
    return World(
        flights={one.flid: one.flight for one in found if one.flight is not None},
        sharers={one.flid: one.sharers for one in found if one.sharers},
        floors={
            one.flid: Floor(state_version=one.floor[0], life=one.floor[1])
            for one in found
            if one.floor is not None
        },
    )
