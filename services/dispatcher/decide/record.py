"""What an event becomes on the wire: key, value, CloudEvents headers in binary mode (R28)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from types import MappingProxyType
from typing import Final

from msgx.domain.delivery import EventType, Target
from msgx.domain.event import Event
from msgx.domain.failure import ErrorClass, Fault

PAYLOAD_VERSION: Final = 1
"""The newest form of `payload` that this version can send."""

TYPES: Final[Mapping[tuple[Target, EventType], str]] = MappingProxyType(
    {
        (Target.MSG, EventType.UPSERT): "msgx.flight.changed.v1",
        (Target.SCHD, EventType.UPSERT): "msgx.flight.state.v1",
        (Target.MSG, EventType.TOMBSTONE): "msgx.flight.deleted.v1",
        (Target.SCHD, EventType.TOMBSTONE): "msgx.flight.deleted.v1",
    }
)

_KINDS: Final = MappingProxyType({which: told.encode() for which, told in TYPES.items()})
_SPECIFICATION: Final = ("ce_specversion", b"1.0")
_CONTENT: Final = ("content-type", b"application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One event, ready to be sent."""

    event: Event
    key: bytes
    value: bytes | None
    headers: list[tuple[str, bytes]]


def record(event: Event, target: Target, *, environment: str, max_bytes: int) -> Record:
    """Return the record of `event`.

    Raises:
        Fault: it can never be sent as it is: TOO_LARGE, CODEC_ERROR (a form this version does
        not know, B28) or SERIALISATION (no key, B69).
    """
    if event.payload_version != PAYLOAD_VERSION:
        raise Fault(
            ErrorClass.CODEC_ERROR, f"payload version {event.payload_version} is not known"
        )
    if not event.partition_key.strip():
        raise Fault(ErrorClass.SERIALISATION, "the event has no FLID to be its key")
    if event.size > max_bytes:
        raise Fault(
            ErrorClass.TOO_LARGE, f"the value has {event.size} bytes, the limit is {max_bytes}"
        )
    return Record(
        event=event,
        key=event.partition_key.encode(),
        value=None if event.payload is None else event.payload.encode(),
        headers=_headers(event, target, environment),
    )


def _headers(event: Event, target: Target, environment: str) -> list[tuple[str, bytes]]:
    created = event.created_at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6]
    told = [
        _SPECIFICATION,
        ("ce_id", b"%d" % event.event_id),
        ("ce_type", _KINDS[target, event.event_type]),
        ("ce_source", f"/msgx/{environment}".encode()),
        ("ce_subject", event.partition_key.encode()),
        ("ce_time", f"{created}Z".encode()),
        _CONTENT,
    ]
    if event.traceparent is not None:
        told.append(("traceparent", event.traceparent.encode()))
    told.append(("msgx-state-version", b"%d" % event.state_version))
    if event.msg_id is not None:
        told.append(("msgx-source-msg-id", b"%d" % event.msg_id))
    return told
