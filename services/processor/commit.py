"""The domain transaction's writes: flights, journal, events: all or nothing (INV-17b)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from msgx.domain.flight import encode, render, render_change
from msgx.domain.message import Message, Record
from msgx.projection.write import Field
from msgx.store import attempt, flight, outbox
from msgx.store.connect import Connection
from services.processor.decide.world import Emission, Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The message that a commit belongs to."""

    msg_id: int
    message: Message
    traceparent: str | None
    zone: tzinfo


def commit(
    conn: Connection, source: Source, writes: Sequence[Write], *, now: datetime
) -> list[Field]:
    """Write what was planned and return what the projection must show; the caller commits."""
    if not writes:
        return []
    events = [
        _event(write, source) for write in writes if write.emission is not Emission.NOTHING
    ]
    attempt.write(
        conn,
        [(write.flight, write.kind, write.changes) for write in writes],
        events,
        msg_id=source.msg_id,
        now=now,
        traceparent=source.traceparent,
    )
    return [Field(event.flid, event.state_version, event.state) for event in events]


def keep_occurrences(conn: Connection, msg_id: int, records: Sequence[Record]) -> None:
    """Append SRVT and VIPF of the records; a second time is no change (R47)."""
    for record in records:
        if record.occurrences:
            flight.occurred(conn, record.flid, msg_id, record.occurrences)


def _event(write: Write, source: Source) -> outbox.Event:
    if write.emission is Emission.TOMBSTONE:
        change = state = None
    else:
        state = encode(render(write.flight, write.mafl, source.zone))
        change = encode(
            render_change(
                write.flight,
                write.kind,
                write.changed,
                write.mafl if write.mafl_changed else None,
                styp=source.message.meta.styp,
                zone=source.zone,
            )
        )
    return outbox.Event(
        flid=write.flight.flid,
        state_version=write.flight.state_version,
        change=change,
        state=state,
    )
