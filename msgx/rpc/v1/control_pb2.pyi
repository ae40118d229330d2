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

class LoopState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOOP_STATE_UNSPECIFIED: _ClassVar[LoopState]
    LOOP_STATE_WORKING: _ClassVar[LoopState]
    LOOP_STATE_RESTING: _ClassVar[LoopState]
    LOOP_STATE_WAITING: _ClassVar[LoopState]
    LOOP_STATE_PAUSED: _ClassVar[LoopState]
    LOOP_STATE_FAILED: _ClassVar[LoopState]
LOOP_STATE_UNSPECIFIED: LoopState
LOOP_STATE_WORKING: LoopState
LOOP_STATE_RESTING: LoopState
LOOP_STATE_WAITING: LoopState
LOOP_STATE_PAUSED: LoopState
LOOP_STATE_FAILED: LoopState

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StatusResponse(_message.Message):
    __slots__ = ("service", "version", "instance", "leads", "serving", "leader", "schema", "loops", "backlog", "store_fault")
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    LEADS_FIELD_NUMBER: _ClassVar[int]
    SERVING_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    LOOPS_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_FIELD_NUMBER: _ClassVar[int]
    STORE_FAULT_FIELD_NUMBER: _ClassVar[int]
    service: str
    version: str
    instance: str
    leads: bool
    serving: bool
    leader: Leader
    schema: Schema
    loops: _containers.RepeatedCompositeFieldContainer[LoopStatus]
    backlog: _containers.RepeatedCompositeFieldContainer[BacklogItem]
    store_fault: str
    def __init__(self, service: _Optional[str] = ..., version: _Optional[str] = ..., instance: _Optional[str] = ..., leads: _Optional[bool] = ..., serving: _Optional[bool] = ..., leader: _Optional[_Union[Leader, _Mapping]] = ..., schema: _Optional[_Union[Schema, _Mapping]] = ..., loops: _Optional[_Iterable[_Union[LoopStatus, _Mapping]]] = ..., backlog: _Optional[_Iterable[_Union[BacklogItem, _Mapping]]] = ..., store_fault: _Optional[str] = ...) -> None: ...

class Leader(_message.Message):
    __slots__ = ("term", "instance", "since")
    TERM_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    term: int
    instance: str
    since: _timestamp_pb2.Timestamp
    def __init__(self, term: _Optional[int] = ..., instance: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Schema(_message.Message):
    __slots__ = ("current", "needed")
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    NEEDED_FIELD_NUMBER: _ClassVar[int]
    current: int
    needed: int
    def __init__(self, current: _Optional[int] = ..., needed: _Optional[int] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ("since", "operator", "reason")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    since: _timestamp_pb2.Timestamp
    operator: str
    reason: str
    def __init__(self, since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., operator: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class LoopStatus(_message.Message):
    __slots__ = ("name", "state", "reason", "last_clean", "faults", "pausable", "pause")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LAST_CLEAN_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    PAUSABLE_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    name: str
    state: LoopState
    reason: str
    last_clean: _timestamp_pb2.Timestamp
    faults: int
    pausable: bool
    pause: Pause
    def __init__(self, name: _Optional[str] = ..., state: _Optional[_Union[LoopState, str]] = ..., reason: _Optional[str] = ..., last_clean: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., faults: _Optional[int] = ..., pausable: _Optional[bool] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ...) -> None: ...

class BacklogItem(_message.Message):
    __slots__ = ("name", "count", "oldest")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OLDEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: int
    oldest: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., count: _Optional[int] = ..., oldest: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PauseRequest(_message.Message):
    __slots__ = ("admin", "part")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    part: str
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., part: _Optional[str] = ...) -> None: ...

class PauseResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    def __init__(self, changed: _Optional[bool] = ...) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ("admin", "part")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    part: str
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., part: _Optional[str] = ...) -> None: ...

class ResumeResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    def __init__(self, changed: _Optional[bool] = ...) -> None: ...

class WakeRequest(_message.Message):
    __slots__ = ("part",)
    PART_FIELD_NUMBER: _ClassVar[int]
    part: str
    def __init__(self, part: _Optional[str] = ...) -> None: ...

class WakeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
