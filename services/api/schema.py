"""Shapes of the answers for the OpenAPI document; a flight's come from the field registry."""

from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel

from msgx.domain.fields import COLLECTIONS, MARKS, SCALARS, Kind, PartField
from msgx.domain.refdata import Category
from msgx.domain.requests import RequestState, RequestType

Schema = dict[str, Any]

_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_TEXT: Final[Schema] = {"type": "string"}


class Landed(BaseModel):
    """The message stands in the mailbox; `body` is its id there. It is not processed yet."""

    code: Literal[0]
    message: Literal["ok"]
    body: int


class Registered(BaseModel):
    """The request is registered; `body` is its number. It does not stand in the mailbox yet."""

    code: Literal[0]
    message: Literal["ok"]
    body: int


class RequestAnswer(BaseModel):
    """The message that answers a request."""

    msgId: int
    by: Literal["EXACT", "TYPE"]
    at: datetime
    lagSeconds: float | None


class Request(BaseModel):
    """A request to the AODB; what is not known yet is null."""

    id: int
    type: RequestType
    styp: str
    rtyp: str | None
    startDate: datetime | None
    endDate: datetime | None
    state: RequestState
    stateSince: datetime
    registeredAt: datetime
    registeredBy: str
    reason: str | None
    seqn: str | None
    sentAt: datetime | None
    rowId: int | None
    expiresAt: datetime | None
    answer: RequestAnswer | None
    closedAt: datetime | None


class OneRequest(BaseModel):
    """One request."""

    code: Literal[0]
    message: Literal["ok"]
    body: Request


class Requests(BaseModel):
    """Requests, the newest first."""

    code: Literal[0]
    message: Literal["ok"]
    body: list[Request]


class LastMessage(BaseModel):
    """The message that said the last record of a category."""

    msgId: int
    batch: str
    refreshedAt: datetime


class ReferenceCategory(BaseModel):
    """A category of reference data; `last` is null if it has no record."""

    category: Category
    records: int
    last: LastMessage | None


class Categories(BaseModel):
    """Every category."""

    code: Literal[0]
    message: Literal["ok"]
    body: list[ReferenceCategory]


class ReferenceRecord(BaseModel):
    """A record: its fields by SIS tag (null: no value now), the message that said it last, that
    message's identity, and when it was applied."""

    key: str
    payload: dict[str, str | list[str | None] | list[dict[str, str | None]] | None]
    msgId: int
    batch: str
    refreshedAt: datetime


class ReferencePage(BaseModel):
    """A page of records; `next` is null on the last one."""

    category: Category
    records: list[ReferenceRecord]
    next: str | None


class References(BaseModel):
    """Records of a category."""

    code: Literal[0]
    message: Literal["ok"]
    body: ReferencePage


class Availability(BaseModel):
    """Whether a resource is available, and the last event about it; null: there was none."""

    rtyp: str
    rsid: str
    at: datetime
    available: bool
    event: ReferenceRecord | None


class OneAvailability(BaseModel):
    """The availability of one resource."""

    code: Literal[0]
    message: Literal["ok"]
    body: Availability


class Done(BaseModel):
    """Nothing to tell but that it is so."""

    code: Literal[0]
    message: Literal["ok"]
    body: None


class Failure(BaseModel):
    """Nothing was done. `code` is the HTTP status, `message` a sentence for people."""

    code: int
    message: str
    body: None


def failures(*statuses: tuple[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return the documented failures of a route: a status and what it means there."""
    return {
        status: {"model": Failure, "description": meaning}
        for status, meaning in (
            *statuses,
            (HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of ours"),
        )
    }


def flights() -> Schema:
    """Return the schema of `/all/flights`: a tag without a value is absent."""
    properties: Schema = {
        "FLID": _TEXT,
        "STATE": {"const": "ACTIVE"},
        "STATE_VERSION": {"type": "integer"},
        "UPDATED_AT": _TIME,
        "OPERATION_DAY": {"type": "string", "format": "date"},
    }
    properties |= {field.tag: _part(field.kind) for field in SCALARS}
    properties |= {mark.tag: _element(mark.parts) for mark in MARKS}
    properties |= {
        collection.tag: {"type": "array", "items": _element(collection.parts)}
        for collection in COLLECTIONS
    }
    properties["BOARDING_STATUS"] = {"enum": ["BOARDING", "LAST_CALL"]}
    properties["MAFL"] = {
        "type": "array",
        "description": "the codeshares of this main flight",
        "items": {"type": "object", "properties": {"FLID": _TEXT, "FLNO": _TEXT}},
    }
    flight: Schema = {
        "type": "object",
        "required": ["FLID", "STATE", "STATE_VERSION", "UPDATED_AT"],
        "properties": properties,
    }
    return {
        "type": "object",
        "required": ["code", "message", "body"],
        "properties": {
            "code": {"const": 0},
            "message": {"const": "ok"},
            "body": {"type": "array", "items": flight},
        },
    }


def _element(parts: Iterable[PartField]) -> Schema:
    return {
        "type": "object",
        "properties": {part.name: _part(part.kind) for part in parts},
    }


def _part(kind: Kind) -> Schema:
    match kind:
        case Kind.TIME:
            return _TIME
        case Kind.COUNT:
            return {"type": "integer"}
        case Kind.MOVEMENT:
            return {"enum": ["A", "D"]}
        case Kind.NATURE:
            return {"enum": ["D", "I", "M"]}
        case Kind.TEXT | Kind.KEY | Kind.DURATION:
            return _TEXT
