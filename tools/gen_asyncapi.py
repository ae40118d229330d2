"""Write docs/asyncapi.json: the two topics for machines (AsyncAPI 3); flights come from the
registry."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain.delivery import EventType, Target
from msgx.domain.flight import EntryKind
from msgx.settings import Kafka
from services.api.schema import flights
from services.dispatcher.decide.record import TYPES
from tools.page import publish

PAGE = "docs/asyncapi.json"
_BINDING = "0.5.0"

Schema = dict[str, Any]


def pages() -> dict[str, str]:
    """Return the document."""
    names = Kafka(bootstrap="")
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "msgexchange",
            "version": "1",
            "description": "Changes and states of flights; see docs/kafka.md.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "msg": _channel(names.topic_msg, "delete", "changed", "deleted"),
            "schd": _channel(names.topic_schd, "compact", "state", "deleted"),
        },
        "operations": {
            name: {"action": "send", "channel": {"$ref": f"#/channels/{name}"}}
            for name in ("msg", "schd")
        },
        "components": {
            "messages": {
                "changed": _message(
                    TYPES[Target.MSG, EventType.UPSERT],
                    "what changed",
                    {"$ref": "#/components/schemas/change"},
                ),
                "state": _message(
                    TYPES[Target.SCHD, EventType.UPSERT],
                    "the whole flight",
                    {"$ref": "#/components/schemas/flight"},
                ),
                "deleted": _message(
                    TYPES[Target.SCHD, EventType.TOMBSTONE],
                    "a null value: shown no more",
                    {"type": "null"},
                ),
            },
            "schemas": {"flight": _flight(), "change": _change()},
        },
    }
    return {PAGE: json.dumps(document, ensure_ascii=False, indent=1) + "\n"}


def _channel(topic: str, policy: str, *messages: str) -> Schema:
    return {
        "address": topic,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "bindings": {
            "kafka": {
                "topicConfiguration": {"cleanup.policy": [policy]},
                "bindingVersion": _BINDING,
            }
        },
    }


def _message(kind: str, summary: str, payload: Schema) -> Schema:
    return {
        "name": kind,
        "summary": summary,
        "headers": _headers(kind),
        "payload": payload,
        "bindings": {
            "kafka": {
                "key": {"type": "string", "description": "the FLID"},
                "bindingVersion": _BINDING,
            }
        },
    }


def _headers(kind: str) -> Schema:
    text = {"type": "string"}
    always = {
        "ce_specversion": {"const": "1.0"},
        "ce_id": text,
        "ce_type": {"const": kind},
        "ce_source": text,
        "ce_subject": text,
        "ce_time": {"type": "string", "format": "date-time"},
        "content-type": {"const": "application/json"},
        "msgx-state-version": text,
    }
    return {
        "type": "object",
        "required": list(always),
        "properties": always | {"traceparent": text, "msgx-source-msg-id": text},
    }


def _flight() -> Schema:
    listed: Schema = flights()["properties"]["body"]["items"]
    return listed


def _change() -> Schema:
    told: Schema = _flight()["properties"]
    own = ("FLID", "STATE_VERSION", "UPDATED_AT")
    derived = ("STATE", "OPERATION_DAY", "BOARDING_STATUS")
    tags = {
        tag: {"anyOf": [schema, {"type": "null"}]}
        for tag, schema in told.items()
        if tag not in (*own, *derived)
    }
    return {
        "type": "object",
        "required": [*own, "KIND", "STYP", "CHANGES"],
        "properties": {name: told[name] for name in own}
        | {
            "KIND": {
                "enum": [kind.value for kind in EntryKind if kind is not EntryKind.DELETED]
            },
            "STYP": {"type": "string", "description": "subtype of the message"},
            "CHANGES": {
                "type": "object",
                "description": "tags that changed, with their new value; null: cleared",
                "properties": tags,
            },
        },
    }


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
