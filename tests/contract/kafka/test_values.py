"""docs/asyncapi.yaml: a whole document, and true of all that a day puts on the topics."""

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft7Validator, FormatChecker

from msgx.domain.delivery import EventType, Target
from msgx.domain.event import Event
from services.dispatcher.decide.record import TYPES, record
from tests.aodb import build_day
from tests.support.dispatcher_process import ROOT
from tests.support.processor import Line, Places, lining

DOCUMENT: Final[dict[str, Any]] = yaml.safe_load(
    (ROOT / "docs" / "asyncapi.yaml").read_text("utf-8")
)
OFFICIAL: Final[dict[str, Any]] = json.loads(
    Path(__file__).with_name("asyncapi-3.0.0.json").read_text("utf-8")
)
FORMATS: Final = FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def is_time(value: object) -> bool:
    return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None


@FORMATS.checks("date", raises=ValueError)
def is_day(value: object) -> bool:
    return isinstance(value, str) and bool(date.fromisoformat(value))


def looked_up(reference: str) -> Any:
    found: Any = DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def references(part: Any) -> Iterator[str]:
    """Yield every reference below a part of the document."""
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def closed(schema: Any) -> Any:
    """Return a schema that takes no tag which it does not name. The published one does: new
    tags may come."""
    if isinstance(schema, dict):
        inner = {name: closed(part) for name, part in schema.items()}
        named = schema.get("type") == "object" and "properties" in schema
        return inner | ({"additionalProperties": False} if named else {})
    return [closed(part) for part in schema] if isinstance(schema, list) else schema


def payload(message: Any) -> Any:
    schema = message["payload"]
    return looked_up(schema["$ref"]) if "$ref" in schema else schema


@pytest.mark.covers("R28")
def test_the_document_is_valid_by_the_schema_of_asyncapi() -> None:
    assert faults(OFFICIAL, DOCUMENT) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("asyncapi", "2.6.0"),
        ("info/titel", "msgexchange"),
        ("channels/msg/adress", "msg"),
        ("channels/msg/bindings/kafka/partitions", "six"),
        ("operations/msg/action", "emit"),
        ("components/messages/state/payload", 7),
        ("components/messages/state/bindings/kafka/keys", {}),
    ],
)
def test_the_schema_of_asyncapi_sees_what_is_wrong(place: str, value: Any) -> None:
    wrong = deepcopy(DOCUMENT)
    *path, last = place.split("/")
    part = wrong
    for name in path:
        part = part[name]
    part[last] = value

    assert faults(OFFICIAL, wrong) != []


@pytest.mark.covers("R28")
def test_the_document_is_whole() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= DOCUMENT["info"].keys()
    for reference in references(DOCUMENT):
        assert isinstance(looked_up(reference), dict), reference
    for name, channel in DOCUMENT["channels"].items():
        assert channel["address"], name
        assert channel["bindings"]["kafka"]["topicConfiguration"]["cleanup.policy"]
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] == "send"
        assert looked_up(operation["channel"]["$ref"]) in DOCUMENT["channels"].values()
    for message in DOCUMENT["components"]["messages"].values():
        Draft7Validator.check_schema(payload(message))
        Draft7Validator.check_schema(message["headers"])
        assert message["bindings"]["kafka"]["key"]["type"] == "string"


@pytest.mark.covers("R28", "B72")
def test_each_channel_has_the_messages_that_the_dispatcher_sends_there() -> None:
    for name, target in (("msg", Target.MSG), ("schd", Target.SCHD)):
        kinds = {
            looked_up(one["$ref"])["name"]
            for one in DOCUMENT["channels"][name]["messages"].values()
        }
        assert kinds == {TYPES[target, kind] for kind in EventType}


@pytest.fixture
def line(pg_dsn: str, mailbox_url: str, redis_url: str) -> Iterator[Line]:
    with lining(Places(dsn=pg_dsn, mailbox=mailbox_url, redis=redis_url)) as one:
        yield one


def faults(schema: Any, value: Any) -> list[str]:
    validator = Draft7Validator(schema, format_checker=FORMATS)
    return [f"{list(fault.path)}: {fault.message}" for fault in validator.iter_errors(value)]


@pytest.mark.pg
@pytest.mark.mysql
@pytest.mark.redis
@pytest.mark.covers("B116", "B110", "R28")
def test_every_event_of_a_day_is_as_the_document_says(line: Line) -> None:
    day = build_day(seed=5, flights=20, reference=False)
    line.run(*(message.xml for message in day.messages))
    messages = {
        one["name"]: (closed(payload(one)), closed(one["headers"]))
        for one in DOCUMENT["components"]["messages"].values()
    }
    seen: Counter[str] = Counter()
    kinds: set[str] = set()

    for event, target in events(line):
        sent = record(event, target, environment="test", max_bytes=10**6)
        headers = {name: text.decode() for name, text in sent.headers}
        value_schema, header_schema = messages[headers["ce_type"]]
        value = None if sent.value is None else json.loads(sent.value)
        assert faults(value_schema, value) == [], sent.value
        assert faults(header_schema, headers) == [], headers
        assert value is None or value["STATE_VERSION"] == int(headers["msgx-state-version"])
        seen[f"{target.part} {headers['ce_type']}"] += 1
        kinds |= {value["KIND"]} if target is Target.MSG and value is not None else set()

    assert set(seen) == {
        f"{channel} {looked_up(one['$ref'])['name']}"
        for channel, told in DOCUMENT["channels"].items()
        for one in told["messages"].values()
    }
    assert min(seen.values()) > 1
    assert kinds == set(
        DOCUMENT["components"]["schemas"]["change"]["properties"]["KIND"]["enum"]
    )


@pytest.mark.covers("B116")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("flight", {"FLID": 7}),
        ("flight", {"STATE": "DELETED"}),
        ("flight", {"SODT": "2026-05-03 10:00"}),
        ("flight", {"ZZZZ": "what nobody knows"}),
        ("change", {"CHANGES": {"STND": 7}}),
        ("change", {"KIND": "DELETED"}),
    ],
)
def test_what_is_wrong_is_found(name: str, wrong: dict[str, Any]) -> None:
    whole = {"FLID": "7", "STATE_VERSION": 1, "UPDATED_AT": "2026-05-03T10:00:00+08:00"}
    whole |= (
        {"STATE": "ACTIVE"}
        if name == "flight"
        else {"KIND": "CHANGED", "STYP": "STND", "CHANGES": {}}
    )
    schema = closed(DOCUMENT["components"]["schemas"][name])

    assert faults(schema, whole) == []
    assert faults(schema, whole | wrong) != []


def events(line: Line) -> Iterator[tuple[Event, Target]]:
    """Yield everything in the outbox as the dispatcher reads it."""
    for row in line.rows("SELECT * FROM msg_event ORDER BY event_id"):
        text = row["payload"]
        yield (
            Event(
                event_id=row["event_id"],
                partition_key=row["partition_key"],
                event_type=EventType(row["event_type"]),
                payload_version=row["payload_version"],
                payload=text,
                size=0 if text is None else len(text.encode()),
                state_version=row["state_version"],
                msg_id=row["msg_id"],
                created_at=row["created_at"],
                attempts=row["attempts"],
                traceparent=row["traceparent"],
            ),
            Target(row["target"]),
        )
