import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from msgx.rpc.v1 import admin_pb2 as _admin_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Topic(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOPIC_UNSPECIFIED: _ClassVar[Topic]
    TOPIC_MSG: _ClassVar[Topic]
    TOPIC_SCHD: _ClassVar[Topic]

class HoldCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOLD_CAUSE_UNSPECIFIED: _ClassVar[HoldCause]
    HOLD_CAUSE_DEAD: _ClassVar[HoldCause]
    HOLD_CAUSE_WAITING: _ClassVar[HoldCause]
    HOLD_CAUSE_UNRELEASED: _ClassVar[HoldCause]
TOPIC_UNSPECIFIED: Topic
TOPIC_MSG: Topic
TOPIC_SCHD: Topic
HOLD_CAUSE_UNSPECIFIED: HoldCause
HOLD_CAUSE_DEAD: HoldCause
HOLD_CAUSE_WAITING: HoldCause
HOLD_CAUSE_UNRELEASED: HoldCause

class Filter(_message.Message):
    __slots__ = ("topic", "flid", "error_class")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    FLID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    topic: Topic
    flid: str
    error_class: str
    def __init__(self, topic: _Optional[_Union[Topic, str]] = ..., flid: _Optional[str] = ..., error_class: _Optional[str] = ...) -> None: ...

class EventKey(_message.Message):
    __slots__ = ("topic", "flid", "event_id")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    FLID_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    topic: Topic
    flid: str
    event_id: int
    def __init__(self, topic: _Optional[_Union[Topic, str]] = ..., flid: _Optional[str] = ..., event_id: _Optional[int] = ...) -> None: ...

class DeadEvent(_message.Message):
    __slots__ = ("key", "state_version", "source_msg_id", "error_class", "error_text", "attempts", "since", "value_bytes", "tombstone")
    KEY_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    ERROR_TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    VALUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOMBSTONE_FIELD_NUMBER: _ClassVar[int]
    key: EventKey
    state_version: int
    source_msg_id: int
    error_class: str
    error_text: str
    attempts: int
    since: _timestamp_pb2.Timestamp
    value_bytes: int
    tombstone: bool
    def __init__(self, key: _Optional[_Union[EventKey, _Mapping]] = ..., state_version: _Optional[int] = ..., source_msg_id: _Optional[int] = ..., error_class: _Optional[str] = ..., error_text: _Optional[str] = ..., attempts: _Optional[int] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., value_bytes: _Optional[int] = ..., tombstone: _Optional[bool] = ...) -> None: ...

class ListDeadRequest(_message.Message):
    __slots__ = ("filter", "limit", "after_event_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    filter: Filter
    limit: int
    after_event_id: int
    def __init__(self, filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ..., after_event_id: _Optional[int] = ...) -> None: ...

class ListDeadResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[DeadEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[DeadEvent, _Mapping]]] = ...) -> None: ...

class HeldFlight(_message.Message):
    __slots__ = ("cause_event", "cause", "state_version", "error_class", "error_text", "attempts", "since", "next_attempt_at", "events_behind")
    CAUSE_EVENT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    ERROR_TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_BEHIND_FIELD_NUMBER: _ClassVar[int]
    cause_event: EventKey
    cause: HoldCause
    state_version: int
    error_class: str
    error_text: str
    attempts: int
    since: _timestamp_pb2.Timestamp
    next_attempt_at: _timestamp_pb2.Timestamp
    events_behind: int
    def __init__(self, cause_event: _Optional[_Union[EventKey, _Mapping]] = ..., cause: _Optional[_Union[HoldCause, str]] = ..., state_version: _Optional[int] = ..., error_class: _Optional[str] = ..., error_text: _Optional[str] = ..., attempts: _Optional[int] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., events_behind: _Optional[int] = ...) -> None: ...

class ListHeldRequest(_message.Message):
    __slots__ = ("topic", "flid", "limit")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    FLID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    topic: Topic
    flid: str
    limit: int
    def __init__(self, topic: _Optional[_Union[Topic, str]] = ..., flid: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListHeldResponse(_message.Message):
    __slots__ = ("flights", "total")
    FLIGHTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    flights: _containers.RepeatedCompositeFieldContainer[HeldFlight]
    total: int
    def __init__(self, flights: _Optional[_Iterable[_Union[HeldFlight, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class RequeueRequest(_message.Message):
    __slots__ = ("admin", "event", "filter", "limit")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    event: EventKey
    filter: Filter
    limit: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., event: _Optional[_Union[EventKey, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class RequeueResponse(_message.Message):
    __slots__ = ("affected",)
    AFFECTED_FIELD_NUMBER: _ClassVar[int]
    affected: int
    def __init__(self, affected: _Optional[int] = ...) -> None: ...

class DiscardRequest(_message.Message):
    __slots__ = ("admin", "event", "filter", "limit")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    event: EventKey
    filter: Filter
    limit: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., event: _Optional[_Union[EventKey, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class DiscardResponse(_message.Message):
    __slots__ = ("affected",)
    AFFECTED_FIELD_NUMBER: _ClassVar[int]
    affected: int
    def __init__(self, affected: _Optional[int] = ...) -> None: ...
