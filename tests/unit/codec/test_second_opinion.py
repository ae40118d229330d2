"""A simulated day, odd messages included, read by two readers that share no code."""

import json
from datetime import datetime
from typing import Any

import pytest

from msgx.codec.decode import Decoder
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.flight import journal_form
from msgx.domain.flop import DEFAULT_GROUPS
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    HandOff,
    Message,
    Record,
    Reference,
    Refused,
    Schedule,
    Unsupported,
)
from msgx.domain.refdata import Reading
from tests.aodb.day import build_day
from tests.aodb.oracle import tables
from tests.aodb.oracle.decode import Envelope, Verdict, flid_of, flight_records, told_by
from tests.aodb.oracle.decode import open_envelope as open_
from tests.aodb.oracle.reference import is_reference, reference_records
from tests.unit.codec.messages import MAX_BYTES, SHANGHAI, YEAR

READER = Decoder(
    zone=SHANGHAI,
    groups=DEFAULT_GROUPS,
    max_bytes=MAX_BYTES,
    reference=Reading(begin_tag="BGTM", end_tag="EDTM"),
)

Said = tuple[str, Any]
"""A verdict and what it is about."""


@pytest.mark.covers("R58", "R59", "INV-14b", "US-13")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_readers_say_the_same_of_every_message(seed: int) -> None:
    day = build_day(seed=seed, flights=40)
    contents: dict[bytes, object] = {}

    for number, planned in enumerate(day.messages):
        ours, theirs = _ours(planned.xml), _theirs(planned.xml)
        assert ours[0] == theirs[0], (number, planned.xml)
        assert ours[1] == theirs[1], (number, planned.xml)
        if isinstance(said := _read(planned.xml), Message):
            content = contents.setdefault(said.body_digest, open_(planned.xml).content)
            assert content == open_(planned.xml).content

    assert len(contents) == len(set(contents.values()))
    assert len(day.messages) >= 40 * 20


def _read(text: str) -> Message | Fault:
    try:
        return READER.decode(text, year=YEAR)
    except Fault as fault:
        return fault


def _ours(text: str) -> Said:
    said = _read(text)
    if isinstance(said, Fault):
        assert said.error_class is ErrorClass.MALFORMED
        return "MALFORMED", None
    match said.payload:
        case Refused(error_class=error_class):
            return error_class.value, None
        case Reference(records=records):
            return "reference", {
                record.key: json.loads(json.dumps(record.payload)) for record in records
            }
        case Unsupported() | HandOff():
            return "unsupported", None
        case Fdel(flids=flids):
            return "FDEL", list(flids)
        case Schedule(records=records) | Adft(records=records) | Flop(records=records):
            return "told", [_plain(record) for record in records]


def _plain(record: Record) -> tuple[str, dict[str, Any]]:
    return record.flid, {
        tag: [] if value == () else _instants(journal_form(value))
        for tag, value in record.told.items()
    }


def _theirs(text: str) -> Said:
    try:
        return _judged(open_(text))
    except Verdict as verdict:
        return verdict.reason, None


def _judged(envelope: Envelope) -> Said:
    type_, styp = envelope.kind
    if is_reference(envelope):
        return "reference", reference_records(envelope)
    bodies = envelope.root.findall(type_)
    flop = type_ == "FLOP" and (styp in tables.FLOP_TAGS or styp == "FDEL")
    if not flop and not (type_ == "SCHD" and styp in ("DNLD", "RESP", "ADFT")):
        return "unsupported", None
    if not bodies:
        return "MALFORMED", None
    if type_ == "SCHD":
        records = flight_records(bodies[0])
    elif styp == "FDEL":
        return "FDEL", [flid_of(body) for body in bodies]
    else:
        only = tables.FLOP_TAGS[styp]
        records = [(flid_of(body), told_by(body, only)) for body in bodies]
        if not all(told for _, told in records):
            return "PROTOCOL", None
    return "told", [(flid, _kept(told)) for flid, told in records]


def _kept(told: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = _instants(told)
    for point in plain.get("ROUT", ()):  # stored without its times (R47)
        point.pop("SCAT", None), point.pop("SCDT", None)
    return plain


def _instants(form: Any) -> Any:
    """Return `form` with every ISO instant as seconds, so that offsets do not matter."""
    match form:
        case dict():
            return {name: _instants(part) for name, part in form.items()}
        case list():
            return [_instants(part) for part in form]
        case str() if len(form) >= 20 and form[10:11] == "T":
            return datetime.fromisoformat(form).timestamp()
        case _:
            return form
