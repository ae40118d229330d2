"""An outbox event as the dispatcher reads it."""

from dataclasses import dataclass
from datetime import datetime

from msgx.domain.delivery import EventType


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row of MSG_EVENT. (`event_id`, `state_version`) names this generation of it (B11)."""

    event_id: int
    partition_key: str  # the FLID; with the target it is the order unit (R29)
    event_type: EventType
    payload_version: int
    payload: str | None  # None: a tombstone, or too large to be read
    size: int  # bytes of the payload
    state_version: int
    msg_id: int | None
    created_at: datetime
    attempts: int
    traceparent: str | None
