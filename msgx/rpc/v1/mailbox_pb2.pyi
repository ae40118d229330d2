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

class AbandonReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ABANDON_REASON_UNSPECIFIED: _ClassVar[AbandonReason]
    ABANDON_REASON_MISSING_ROW: _ClassVar[AbandonReason]
    ABANDON_REASON_TRANSIENT_DEADLINE: _ClassVar[AbandonReason]

class Standing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STANDING_UNSPECIFIED: _ClassVar[Standing]
    STANDING_UNKNOWN: _ClassVar[Standing]
    STANDING_OPEN: _ClassVar[Standing]
    STANDING_OWED: _ClassVar[Standing]
    STANDING_CONFIRMED: _ClassVar[Standing]
    STANDING_ABANDONED: _ClassVar[Standing]
ABANDON_REASON_UNSPECIFIED: AbandonReason
ABANDON_REASON_MISSING_ROW: AbandonReason
ABANDON_REASON_TRANSIENT_DEADLINE: AbandonReason
STANDING_UNSPECIFIED: Standing
STANDING_UNKNOWN: Standing
STANDING_OPEN: Standing
STANDING_OWED: Standing
STANDING_CONFIRMED: Standing
STANDING_ABANDONED: Standing

class AbandonedFilter(_message.Message):
    __slots__ = ("reason", "first_msg_id", "last_msg_id")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIRST_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    reason: AbandonReason
    first_msg_id: int
    last_msg_id: int
    def __init__(self, reason: _Optional[_Union[AbandonReason, str]] = ..., first_msg_id: _Optional[int] = ..., last_msg_id: _Optional[int] = ...) -> None: ...

class AbandonedMark(_message.Message):
    __slots__ = ("msg_id", "reason", "state", "type", "styp", "attempts", "finished_at", "abandoned_at", "reopened_at")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    ABANDONED_AT_FIELD_NUMBER: _ClassVar[int]
    REOPENED_AT_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    reason: AbandonReason
    state: str
    type: str
    styp: str
    attempts: int
    finished_at: _timestamp_pb2.Timestamp
    abandoned_at: _timestamp_pb2.Timestamp
    reopened_at: _timestamp_pb2.Timestamp
    def __init__(self, msg_id: _Optional[int] = ..., reason: _Optional[_Union[AbandonReason, str]] = ..., state: _Optional[str] = ..., type: _Optional[str] = ..., styp: _Optional[str] = ..., attempts: _Optional[int] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., abandoned_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reopened_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAbandonedRequest(_message.Message):
    __slots__ = ("filter", "limit", "after_msg_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AFTER_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    filter: AbandonedFilter
    limit: int
    after_msg_id: int
    def __init__(self, filter: _Optional[_Union[AbandonedFilter, _Mapping]] = ..., limit: _Optional[int] = ..., after_msg_id: _Optional[int] = ...) -> None: ...

class ListAbandonedResponse(_message.Message):
    __slots__ = ("marks", "total")
    MARKS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    marks: _containers.RepeatedCompositeFieldContainer[AbandonedMark]
    total: int
    def __init__(self, marks: _Optional[_Iterable[_Union[AbandonedMark, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class CountAbandonedRequest(_message.Message):
    __slots__ = ("filter",)
    FILTER_FIELD_NUMBER: _ClassVar[int]
    filter: AbandonedFilter
    def __init__(self, filter: _Optional[_Union[AbandonedFilter, _Mapping]] = ...) -> None: ...

class AbandonedCount(_message.Message):
    __slots__ = ("reason", "count", "oldest_at", "latest_at")
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OLDEST_AT_FIELD_NUMBER: _ClassVar[int]
    LATEST_AT_FIELD_NUMBER: _ClassVar[int]
    reason: AbandonReason
    count: int
    oldest_at: _timestamp_pb2.Timestamp
    latest_at: _timestamp_pb2.Timestamp
    def __init__(self, reason: _Optional[_Union[AbandonReason, str]] = ..., count: _Optional[int] = ..., oldest_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., latest_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CountAbandonedResponse(_message.Message):
    __slots__ = ("counts", "total")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedCompositeFieldContainer[AbandonedCount]
    total: int
    def __init__(self, counts: _Optional[_Iterable[_Union[AbandonedCount, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class MsgIds(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class ReopenAbandonedRequest(_message.Message):
    __slots__ = ("admin", "ids", "filter", "limit")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    ids: MsgIds
    filter: AbandonedFilter
    limit: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., ids: _Optional[_Union[MsgIds, _Mapping]] = ..., filter: _Optional[_Union[AbandonedFilter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class NotReopened(_message.Message):
    __slots__ = ("msg_id", "standing")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    standing: Standing
    def __init__(self, msg_id: _Optional[int] = ..., standing: _Optional[_Union[Standing, str]] = ...) -> None: ...

class ReopenAbandonedResponse(_message.Message):
    __slots__ = ("affected", "remaining", "not_reopened")
    AFFECTED_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    NOT_REOPENED_FIELD_NUMBER: _ClassVar[int]
    affected: int
    remaining: int
    not_reopened: _containers.RepeatedCompositeFieldContainer[NotReopened]
    def __init__(self, affected: _Optional[int] = ..., remaining: _Optional[int] = ..., not_reopened: _Optional[_Iterable[_Union[NotReopened, _Mapping]]] = ...) -> None: ...

class ReturnedMark(_message.Message):
    __slots__ = ("msg_id", "state", "type", "styp", "finished_at", "confirmed_at")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_AT_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    state: str
    type: str
    styp: str
    finished_at: _timestamp_pb2.Timestamp
    confirmed_at: _timestamp_pb2.Timestamp
    def __init__(self, msg_id: _Optional[int] = ..., state: _Optional[str] = ..., type: _Optional[str] = ..., styp: _Optional[str] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., confirmed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListReturnedRequest(_message.Message):
    __slots__ = ("after_msg_id", "limit")
    AFTER_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    after_msg_id: int
    limit: int
    def __init__(self, after_msg_id: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListReturnedResponse(_message.Message):
    __slots__ = ("marks", "reached_msg_id", "done")
    MARKS_FIELD_NUMBER: _ClassVar[int]
    REACHED_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    marks: _containers.RepeatedCompositeFieldContainer[ReturnedMark]
    reached_msg_id: int
    done: bool
    def __init__(self, marks: _Optional[_Iterable[_Union[ReturnedMark, _Mapping]]] = ..., reached_msg_id: _Optional[int] = ..., done: _Optional[bool] = ...) -> None: ...
