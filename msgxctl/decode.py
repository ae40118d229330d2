"""`msgxctl decode`: what msgx reads from a file, without any server."""

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from msgx import clock
from msgx.codec.decode import Decoder
from msgx.codec.wellformed import MAX_BYTES, WrongEncoding, check_wellformed
from msgx.domain.failure import Fault
from msgx.domain.flop import DEFAULT_GROUPS, FlopGroup
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    HandOff,
    Message,
    Payload,
    Reference,
    Refused,
    Schedule,
    Unsupported,
)
from msgx.domain.refdata import Reading
from msgxctl import options, show
from msgxctl.failure import Failure, Status, misused
from msgxctl.place import shown
from msgxctl.plain import told
from msgxctl.send import text_of
from msgxctl.show import Column

_META: Final[tuple[Column, ...]] = (
    ("identity", "identity"),
    ("sent at", "dttm"),
    ("digest of the body", "digest"),
    ("payload", "payload"),
    ("records", "count"),
    ("msgx would", "verdict"),
)
_UNMAPPED: Final[tuple[Column, ...]] = (
    ("tag that is not read", "tag"),
    ("times", "occurrences"),
    ("first text", "sample"),
)


def decode(
    files: Annotated[
        list[Path], typer.Argument(help="XML messages, one a file; - is standard input.")
    ],
    zone: Annotated[
        str, typer.Option("--zone", help="The airport's time zone (msgx.airport.zone).")
    ] = "Asia/Shanghai",
    group: Annotated[
        list[FlopGroup] | None,
        typer.Option("--group", help="Groups of FLOP subtypes (msgx.flop.groups)."),
    ] = None,
    begin_tag: Annotated[
        str, typer.Option(help="Tag of RSTA (msgx.reference.begin-tag).")
    ] = "BGTM",
    end_tag: Annotated[
        str, typer.Option(help="Tag of RSTA (msgx.reference.end-tag).")
    ] = "EDTM",
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Show at most so many records of a file.")
    ] = 20,
    as_json: options.AsJson = False,
) -> None:
    """Say what msgx would read from messages; no server is asked.

    META, identity, digest and payload, the tags that it would not read, and what
    it would refuse. The status is 1 if one of them would end as DEAD.
    """
    decoder = Decoder(
        zone=_zone(zone),
        groups=frozenset(group) if group else DEFAULT_GROUPS,
        max_bytes=MAX_BYTES,
        reference=Reading(begin_tag=begin_tag, end_tag=end_tag),
    )
    found = [_read(file, decoder) for file in files]
    if as_json:
        show.as_json(found)
    else:
        for one in found:
            _print(one, limit)
    dead = [one["file"] for one in found if one["error_class"] is not None]
    if dead:
        raise Failure(Status.FAILED, f"{len(dead)} of {len(found)} would be DEAD: {dead[0]}")


def _read(file: Path, decoder: Decoder) -> dict[str, Any]:
    result: dict[str, Any] = {
        "file": shown(file),
        "verdict": None,
        "error_class": None,
        "error": None,
        "warnings": [],
    }
    given = text_of(file)
    try:
        check_wellformed(given)
    except WrongEncoding as wrong:
        result["warnings"].append(f"the api would not take it: {wrong.text}")
    except Fault as fault:
        return result | _death(fault)
    try:
        message = decoder.decode(given.decode(), year=clock.now().year)
    except UnicodeDecodeError as error:
        return result | {
            "verdict": "end as DEAD(MALFORMED)",
            "error_class": "MALFORMED",
            "error": f"no UTF-8 at byte {error.start + 1}",
        }
    except Fault as fault:
        return result | _death(fault)
    return (
        result
        | _message(message, decoder.zone)
        | {"warnings": result["warnings"] + _warnings(message)}
    )


def _message(message: Message, zone: tzinfo) -> dict[str, Any]:
    payload = message.payload
    refused = payload if isinstance(payload, Refused) else None
    return {
        "verdict": _verdict(payload),
        "error_class": None if refused is None else refused.error_class.value,
        "error": None if refused is None else refused.text,
        "meta": told(message.meta, zone),
        "identity": message.meta.identity,
        "digest": told(message.body_digest),
        "flids": list(message.flids),
        "payload_type": type(payload).__name__,
        "payload": None if refused else told(payload, zone),
        "unmapped": told(message.unmapped),
    }


def _death(fault: Fault) -> dict[str, Any]:
    return {
        "verdict": f"end as DEAD({fault.error_class})",
        "error_class": fault.error_class.value,
        "error": fault.text,
    }


def _verdict(payload: Payload) -> str:
    match payload:
        case Refused(error_class=error_class):
            return f"end as DEAD({error_class})"
        case Unsupported(reason=reason):
            return f"end as SKIPPED({reason})"
        case Schedule(kind=kind):
            return f"take the day plan ({kind}) as the whole truth about its days"
        case Adft():
            return "create, restore or set these flights"
        case Flop(styp=styp):
            return f"apply {styp} to these flights, if they are there"
        case Fdel():
            return "delete these flights"
        case Reference(category=category, action=action):
            return f"take these records of {category} ({action})"
        case HandOff(category=category):
            return f"hand {category} to the reference data service"


def _warnings(message: Message) -> list[str]:
    warnings = []
    if message.meta.dttm is None:
        warnings.append("META has no DTTM that can be read")
    if isinstance(message.payload, Reference) and message.payload.warning is not None:
        warnings.append(message.payload.warning)
    if message.unmapped:
        times = sum(one.occurrences for one in message.unmapped)
        warnings.append(f"{len(message.unmapped)} tags are not read, {times} times")
    return warnings


def _print(one: dict[str, Any], limit: int) -> None:
    show.say(one["file"])
    payload = one.get("payload") or {}
    records = _records(payload)
    shown_first = {
        "identity": one.get("identity"),
        "dttm": (one.get("meta") or {}).get("dttm"),
        "digest": one.get("digest"),
        "payload": one.get("payload_type"),
        "count": len(records) or None,
        "verdict": one["verdict"],
    }
    show.facts(shown_first, _META)
    if one["error"]:
        show.say(f"  refused: {one['error']}")
    for warning in one["warnings"]:
        show.say(f"  warning: {warning}")
    for record in records[:limit]:
        name = record.get("flid") or record.get("key")
        show.say(f"  {name}")
        show.table(list(_values(record)), (("   tag", "tag"), ("value", "value")))
    if len(records) > limit:
        show.say(f"  … and {len(records) - limit} more (--limit, --json)")
    if one.get("unmapped"):
        show.table(one["unmapped"], _UNMAPPED)
    show.say("")


def _records(payload: dict[str, Any]) -> list[dict[str, Any]]:
    if "flids" in payload:
        return [{"flid": flid} for flid in payload["flids"]]
    return list(payload.get("records", ()))


def _values(record: dict[str, Any]) -> Iterator[dict[str, str]]:
    for tag, value in (record.get("told") or record.get("payload") or {}).items():
        match value:
            case None | []:
                yield {"tag": f"   {tag}", "value": "(empty: clears)"}
            case list():
                for element in value:
                    yield {"tag": f"   {tag}", "value": _flat(element)}
            case _:
                yield {"tag": f"   {tag}", "value": _flat(value)}


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{name}={one}" for name, one in value.items())
    return str(value)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        misused("--zone is not a known time zone")
