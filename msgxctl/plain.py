"""Messages and records as plain values, fit for JSON: the shape that scripts get."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, tzinfo
from enum import Enum
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

_UNSET: Final = "UNSPECIFIED"


def plain(message: Message) -> dict[str, Any]:
    """Return every field under its name of the proto; what is not set is null."""
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def told(value: object, zone: tzinfo = UTC) -> Any:
    """Return a value of the domain: dataclasses become objects, instants ISO-8601 in `zone`."""
    match value:
        case None | str() | bool() | int() | float() if not isinstance(value, Enum):
            return value
        case Enum():
            return value.value
        case bytes():
            return value.hex()
        case datetime():
            return value.astimezone(zone).isoformat()
        case Mapping():
            return {str(name): told(one, zone) for name, one in value.items()}
        case tuple() | list() | frozenset() | set():
            return [told(one, zone) for one in value]
        case _ if is_dataclass(value):
            return {
                field.name: told(getattr(value, field.name), zone) for field in fields(value)
            }
        case _:
            return str(value)


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        kind = field.message_type.fields_by_name["value"]
        return {str(name): _one(one, kind) for name, one in value.items()}
    if field.is_repeated:
        return [_one(one, field) for one in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _one(value, field)


def _one(value: Any, field: Any) -> Any:
    if isinstance(value, Timestamp):
        return instant(value)
    if isinstance(value, Duration):
        return f"{value.ToTimedelta().total_seconds():g} s"
    if isinstance(value, Message):
        return plain(value)
    if isinstance(value, bytes):
        return value.hex()
    if field.enum_type is not None:
        return word(field.enum_type, value)
    return value


def instant(at: Timestamp) -> str:
    """Return an instant in UTC."""
    return at.ToDatetime(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def word(enum: EnumDescriptor, number: int) -> str | None:
    """Return the short name of a number: without what repeats the enum's own name."""
    if (value := enum.values_by_number.get(number)) is None:
        return str(number)
    name = str(value.name).removeprefix(_prefix(enum))
    return None if name == _UNSET else name


def number(enum: EnumDescriptor, short: str) -> int:
    """Return the number of a short name."""
    return int(enum.values_by_name[_prefix(enum) + short].number)


def _prefix(enum: EnumDescriptor) -> str:
    """Return `HOLD_CAUSE_` for HoldCause."""
    letters = (f"_{c}" if c.isupper() and at else c for at, c in enumerate(str(enum.name)))
    return "".join(letters).upper() + "_"
