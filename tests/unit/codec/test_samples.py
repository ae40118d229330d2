"""Every kind of message as a file, and what it says in a second file beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from msgx.domain.fields import OCCURRING, TAGS
from msgx.domain.flight import journal_form
from msgx.domain.flop import RULES
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
from msgx.domain.refdata import FORMS, REPEATED, Action, Category
from tests.unit.codec.messages import decode

SAMPLES = Path(__file__).parents[2] / "support" / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.xml"))


def expected(name: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    return said


def read(name: str) -> Message:
    return decode((SAMPLES / f"{name}.xml").read_text("utf-8"))


@pytest.mark.covers("INV-14b", "US-03", "US-05", "R21")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_says_what_stands_beside_it(name: str) -> None:
    assert _plain(read(name)) == expected(name)


@pytest.mark.covers("R21")
def test_every_subtype_of_the_rule_table_has_a_sample() -> None:
    shown = {
        said["meta"]["styp"] for said in map(expected, NAMES) if "FLOP" in said["meta"]["type"]
    }

    assert {rule.styp for rule in RULES} <= shown


@pytest.mark.covers("US-13", "INV-26")
def test_every_category_and_every_action_has_a_sample() -> None:
    shown = [
        (said["category"], said["action"])
        for said in map(expected, NAMES)
        if said["payload"] == "Reference"
    ]

    assert {category for category, _ in shown} == set(Category)
    assert {action for _, action in shown} == set(Action)


@pytest.mark.covers("US-13")
def test_the_samples_show_every_field_of_the_reference_registry() -> None:
    shown: dict[str, set[str]] = {category: set() for category in Category}
    ignored = 0
    for said in map(expected, NAMES):
        if said["payload"] == "Reference":
            for record in said["records"]:
                shown[said["category"]] |= set(record["payload"] or ())

    for form in FORMS:
        assert {field.tag for field in form.fields} <= shown[form.category]
        assert not form.ignored & shown[form.category]
        ignored += len(form.ignored)
    assert {field.tag for field in REPEATED} <= set().union(*shown.values())
    assert ignored == 30


def test_one_sample_shows_every_tag_of_the_registry() -> None:
    whole = expected("schd-dnld")["records"][0]

    assert set(whole["told"]) == set(TAGS)
    assert {occurrence["tag"] for occurrence in whole["occurrences"]} == {
        field.tag for field in OCCURRING
    }


def _plain(message: Message) -> dict[str, Any]:
    meta = message.meta
    plain: dict[str, Any] = {
        "meta": {
            "sndr": meta.sndr,
            "type": meta.type,
            "styp": meta.styp,
            "seqn": meta.seqn,
            "dttm": journal_form(meta.dttm),
        }
    }
    plain |= {"payload": type(message.payload).__name__} | _payload(message)
    if message.unmapped:
        plain["unmapped"] = [
            {"tag": u.tag, "occurrences": u.occurrences, "sample": u.sample}
            for u in message.unmapped
        ]
    return plain


def _payload(message: Message) -> dict[str, Any]:
    match message.payload:
        case Schedule(kind=kind, declared=declared, records=records):
            return {"kind": kind.value, "declared": declared, "records": _records(records)}
        case Adft(records=records):
            return {"records": _records(records)}
        case Flop(styp=styp, records=records):
            return {"styp": styp, "records": _records(records)}
        case Fdel(flids=flids):
            return {"flids": list(flids)}
        case Reference():
            return _reference(message.payload)
        case HandOff(category=category):
            raise AssertionError(f"{category} was not read")
        case Unsupported(reason=reason):
            return {"reason": reason}
        case Refused(error_class=error_class, text=text):
            return {"refused": error_class.value, "text": text}


def _reference(payload: Reference) -> dict[str, Any]:
    plain = {
        "category": payload.category.value,
        "action": payload.action.value,
        "declared": payload.declared,
        "records": [
            {"key": record.key, "payload": json.loads(json.dumps(record.payload))}
            for record in payload.records
        ],
    }
    return plain if payload.warning is None else plain | {"warning": payload.warning}


def _records(records: tuple[Record, ...]) -> list[dict[str, Any]]:
    return [_record(record) for record in records]


def _record(record: Record) -> dict[str, Any]:
    told = {tag: journal_form(value) for tag, value in record.told.items()}
    plain: dict[str, Any] = {"flid": record.flid, "told": told}
    if record.occurrences:
        plain["occurrences"] = [{"tag": o.tag, "raw": o.raw} for o in record.occurrences]
    return plain
