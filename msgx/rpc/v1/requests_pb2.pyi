import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from msgx.rpc.v1 import admin_pb2 as _admin_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RequestType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REQUEST_TYPE_UNSPECIFIED: _ClassVar[RequestType]
    REQUEST_TYPE_RQFD: _ClassVar[RequestType]
    REQUEST_TYPE_RQRD: _ClassVar[RequestType]

class RequestState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REQUEST_STATE_UNSPECIFIED: _ClassVar[RequestState]
    REQUEST_STATE_PENDING: _ClassVar[RequestState]
    REQUEST_STATE_SENDING: _ClassVar[RequestState]
    REQUEST_STATE_SENT: _ClassVar[RequestState]
    REQUEST_STATE_UNKNOWN: _ClassVar[RequestState]
    REQUEST_STATE_DONE: _ClassVar[RequestState]
    REQUEST_STATE_EXPIRED: _ClassVar[RequestState]
REQUEST_TYPE_UNSPECIFIED: RequestType
REQUEST_TYPE_RQFD: RequestType
REQUEST_TYPE_RQRD: RequestType
REQUEST_STATE_UNSPECIFIED: RequestState
REQUEST_STATE_PENDING: RequestState
REQUEST_STATE_SENDING: RequestState
REQUEST_STATE_SENT: RequestState
REQUEST_STATE_UNKNOWN: RequestState
REQUEST_STATE_DONE: RequestState
REQUEST_STATE_EXPIRED: RequestState

class Answer(_message.Message):
    __slots__ = ("msg_id", "matched_by", "matched_at", "lag")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    MATCHED_BY_FIELD_NUMBER: _ClassVar[int]
    MATCHED_AT_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    matched_by: str
    matched_at: _timestamp_pb2.Timestamp
    lag: _duration_pb2.Duration
    def __init__(self, msg_id: _Optional[int] = ..., matched_by: _Optional[str] = ..., matched_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lag: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class TrackedRequest(_message.Message):
    __slots__ = ("req_id", "type", "styp", "rtyp", "begin", "end", "state", "state_since", "registered_at", "registered_by", "attempts", "reason", "seqn", "sending_at", "row_floor", "row_id", "expires_at", "answer", "closed_at")
    REQ_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    RTYP_FIELD_NUMBER: _ClassVar[int]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_SINCE_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_BY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SEQN_FIELD_NUMBER: _ClassVar[int]
    SENDING_AT_FIELD_NUMBER: _ClassVar[int]
    ROW_FLOOR_FIELD_NUMBER: _ClassVar[int]
    ROW_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    req_id: int
    type: RequestType
    styp: str
    rtyp: str
    begin: _timestamp_pb2.Timestamp
    end: _timestamp_pb2.Timestamp
    state: RequestState
    state_since: _timestamp_pb2.Timestamp
    registered_at: _timestamp_pb2.Timestamp
    registered_by: str
    attempts: int
    reason: str
    seqn: str
    sending_at: _timestamp_pb2.Timestamp
    row_floor: int
    row_id: int
    expires_at: _timestamp_pb2.Timestamp
    answer: Answer
    closed_at: _timestamp_pb2.Timestamp
    def __init__(self, req_id: _Optional[int] = ..., type: _Optional[_Union[RequestType, str]] = ..., styp: _Optional[str] = ..., rtyp: _Optional[str] = ..., begin: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[RequestState, str]] = ..., state_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., registered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., registered_by: _Optional[str] = ..., attempts: _Optional[int] = ..., reason: _Optional[str] = ..., seqn: _Optional[str] = ..., sending_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., row_floor: _Optional[int] = ..., row_id: _Optional[int] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., closed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListRequestsRequest(_message.Message):
    __slots__ = ("state", "type", "styp", "before_req_id", "limit")
    STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    BEFORE_REQ_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    state: RequestState
    type: RequestType
    styp: str
    before_req_id: int
    limit: int
    def __init__(self, state: _Optional[_Union[RequestState, str]] = ..., type: _Optional[_Union[RequestType, str]] = ..., styp: _Optional[str] = ..., before_req_id: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListRequestsResponse(_message.Message):
    __slots__ = ("requests",)
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[TrackedRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[TrackedRequest, _Mapping]]] = ...) -> None: ...

class GetRequestRequest(_message.Message):
    __slots__ = ("req_id",)
    REQ_ID_FIELD_NUMBER: _ClassVar[int]
    req_id: int
    def __init__(self, req_id: _Optional[int] = ...) -> None: ...

class GetRequestResponse(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: TrackedRequest
    def __init__(self, request: _Optional[_Union[TrackedRequest, _Mapping]] = ...) -> None: ...

class PlanWish(_message.Message):
    __slots__ = ("start_date", "end_date")
    START_DATE_FIELD_NUMBER: _ClassVar[int]
    END_DATE_FIELD_NUMBER: _ClassVar[int]
    start_date: str
    end_date: str
    def __init__(self, start_date: _Optional[str] = ..., end_date: _Optional[str] = ...) -> None: ...

class ReferenceWish(_message.Message):
    __slots__ = ("category", "rtyp")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    RTYP_FIELD_NUMBER: _ClassVar[int]
    category: str
    rtyp: str
    def __init__(self, category: _Optional[str] = ..., rtyp: _Optional[str] = ...) -> None: ...

class RegisterRequest(_message.Message):
    __slots__ = ("admin", "plan", "reference")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    plan: PlanWish
    reference: ReferenceWish
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., plan: _Optional[_Union[PlanWish, _Mapping]] = ..., reference: _Optional[_Union[ReferenceWish, _Mapping]] = ...) -> None: ...

class RegisterResponse(_message.Message):
    __slots__ = ("req_id",)
    REQ_ID_FIELD_NUMBER: _ClassVar[int]
    req_id: int
    def __init__(self, req_id: _Optional[int] = ...) -> None: ...

class ResolveRequest(_message.Message):
    __slots__ = ("admin", "req_id", "written_row", "resend")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    REQ_ID_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_ROW_FIELD_NUMBER: _ClassVar[int]
    RESEND_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    req_id: int
    written_row: int
    resend: bool
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., req_id: _Optional[int] = ..., written_row: _Optional[int] = ..., resend: _Optional[bool] = ...) -> None: ...

class ResolveResponse(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: TrackedRequest
    def __init__(self, request: _Optional[_Union[TrackedRequest, _Mapping]] = ...) -> None: ...
