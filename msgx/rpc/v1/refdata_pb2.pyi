import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListCategoriesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReferenceCategory(_message.Message):
    __slots__ = ("category", "records", "last_msg_id", "last_batch", "last_refreshed_at")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    LAST_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_BATCH_FIELD_NUMBER: _ClassVar[int]
    LAST_REFRESHED_AT_FIELD_NUMBER: _ClassVar[int]
    category: str
    records: int
    last_msg_id: int
    last_batch: str
    last_refreshed_at: _timestamp_pb2.Timestamp
    def __init__(self, category: _Optional[str] = ..., records: _Optional[int] = ..., last_msg_id: _Optional[int] = ..., last_batch: _Optional[str] = ..., last_refreshed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListCategoriesResponse(_message.Message):
    __slots__ = ("categories",)
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    categories: _containers.RepeatedCompositeFieldContainer[ReferenceCategory]
    def __init__(self, categories: _Optional[_Iterable[_Union[ReferenceCategory, _Mapping]]] = ...) -> None: ...

class ListRecordsRequest(_message.Message):
    __slots__ = ("category", "limit", "after_key")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AFTER_KEY_FIELD_NUMBER: _ClassVar[int]
    category: str
    limit: int
    after_key: str
    def __init__(self, category: _Optional[str] = ..., limit: _Optional[int] = ..., after_key: _Optional[str] = ...) -> None: ...

class ReferenceRecord(_message.Message):
    __slots__ = ("key", "payload", "msg_id", "batch", "refreshed_at")
    KEY_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    REFRESHED_AT_FIELD_NUMBER: _ClassVar[int]
    key: str
    payload: str
    msg_id: int
    batch: str
    refreshed_at: _timestamp_pb2.Timestamp
    def __init__(self, key: _Optional[str] = ..., payload: _Optional[str] = ..., msg_id: _Optional[int] = ..., batch: _Optional[str] = ..., refreshed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListRecordsResponse(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ReferenceRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[ReferenceRecord, _Mapping]]] = ...) -> None: ...

class GetAvailabilityRequest(_message.Message):
    __slots__ = ("rtyp", "rsid", "at")
    RTYP_FIELD_NUMBER: _ClassVar[int]
    RSID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    rtyp: str
    rsid: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, rtyp: _Optional[str] = ..., rsid: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetAvailabilityResponse(_message.Message):
    __slots__ = ("available", "at", "event")
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    available: bool
    at: _timestamp_pb2.Timestamp
    event: ReferenceRecord
    def __init__(self, available: _Optional[bool] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., event: _Optional[_Union[ReferenceRecord, _Mapping]] = ...) -> None: ...
