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

class MessageState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_STATE_UNSPECIFIED: _ClassVar[MessageState]
    MESSAGE_STATE_PENDING: _ClassVar[MessageState]
    MESSAGE_STATE_FAILED: _ClassVar[MessageState]
    MESSAGE_STATE_SUCCEEDED: _ClassVar[MessageState]
    MESSAGE_STATE_SKIPPED: _ClassVar[MessageState]
    MESSAGE_STATE_DEAD: _ClassVar[MessageState]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_APPLIES: _ClassVar[Verdict]
    VERDICT_NO_CHANGE: _ClassVar[Verdict]
    VERDICT_NEWER_SOURCE: _ClassVar[Verdict]
    VERDICT_RAW_MISSING: _ClassVar[Verdict]
    VERDICT_SKIPPED: _ClassVar[Verdict]
    VERDICT_DIES: _ClassVar[Verdict]
    VERDICT_NEEDS_FORCE: _ClassVar[Verdict]
    VERDICT_NOT_DEAD: _ClassVar[Verdict]
    VERDICT_BUSY: _ClassVar[Verdict]
    VERDICT_NOT_JUDGED: _ClassVar[Verdict]
MESSAGE_STATE_UNSPECIFIED: MessageState
MESSAGE_STATE_PENDING: MessageState
MESSAGE_STATE_FAILED: MessageState
MESSAGE_STATE_SUCCEEDED: MessageState
MESSAGE_STATE_SKIPPED: MessageState
MESSAGE_STATE_DEAD: MessageState
VERDICT_UNSPECIFIED: Verdict
VERDICT_APPLIES: Verdict
VERDICT_NO_CHANGE: Verdict
VERDICT_NEWER_SOURCE: Verdict
VERDICT_RAW_MISSING: Verdict
VERDICT_SKIPPED: Verdict
VERDICT_DIES: Verdict
VERDICT_NEEDS_FORCE: Verdict
VERDICT_NOT_DEAD: Verdict
VERDICT_BUSY: Verdict
VERDICT_NOT_JUDGED: Verdict

class MessageFilter(_message.Message):
    __slots__ = ("state", "error_class", "fingerprint", "type", "styp", "flid", "since", "until", "from_msg_id", "to_msg_id")
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    FLID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    FROM_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    TO_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    state: MessageState
    error_class: str
    fingerprint: str
    type: str
    styp: str
    flid: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    from_msg_id: int
    to_msg_id: int
    def __init__(self, state: _Optional[_Union[MessageState, str]] = ..., error_class: _Optional[str] = ..., fingerprint: _Optional[str] = ..., type: _Optional[str] = ..., styp: _Optional[str] = ..., flid: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., from_msg_id: _Optional[int] = ..., to_msg_id: _Optional[int] = ...) -> None: ...

class MessageSummary(_message.Message):
    __slots__ = ("msg_id", "state", "sndr", "type", "styp", "seqn", "flid", "error_class", "first_error_class", "fingerprint", "text", "attempts", "infra_attempts", "registered_at", "finished_at", "next_attempt_at", "route", "corrected", "replays")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SNDR_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STYP_FIELD_NUMBER: _ClassVar[int]
    SEQN_FIELD_NUMBER: _ClassVar[int]
    FLID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    INFRA_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    CORRECTED_FIELD_NUMBER: _ClassVar[int]
    REPLAYS_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    state: MessageState
    sndr: str
    type: str
    styp: str
    seqn: str
    flid: str
    error_class: str
    first_error_class: str
    fingerprint: str
    text: str
    attempts: int
    infra_attempts: int
    registered_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    next_attempt_at: _timestamp_pb2.Timestamp
    route: str
    corrected: bool
    replays: int
    def __init__(self, msg_id: _Optional[int] = ..., state: _Optional[_Union[MessageState, str]] = ..., sndr: _Optional[str] = ..., type: _Optional[str] = ..., styp: _Optional[str] = ..., seqn: _Optional[str] = ..., flid: _Optional[str] = ..., error_class: _Optional[str] = ..., first_error_class: _Optional[str] = ..., fingerprint: _Optional[str] = ..., text: _Optional[str] = ..., attempts: _Optional[int] = ..., infra_attempts: _Optional[int] = ..., registered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., route: _Optional[str] = ..., corrected: _Optional[bool] = ..., replays: _Optional[int] = ...) -> None: ...

class ListMessagesRequest(_message.Message):
    __slots__ = ("filter", "limit", "after_msg_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AFTER_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    filter: MessageFilter
    limit: int
    after_msg_id: int
    def __init__(self, filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., limit: _Optional[int] = ..., after_msg_id: _Optional[int] = ...) -> None: ...

class ListMessagesResponse(_message.Message):
    __slots__ = ("messages", "total")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[MessageSummary]
    total: int
    def __init__(self, messages: _Optional[_Iterable[_Union[MessageSummary, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class GroupFailuresRequest(_message.Message):
    __slots__ = ("filter", "limit")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    filter: MessageFilter
    limit: int
    def __init__(self, filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class FailureGroup(_message.Message):
    __slots__ = ("error_class", "fingerprint", "count", "lowest_msg_id", "highest_msg_id", "first_at", "last_at", "example")
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LOWEST_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_AT_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_FIELD_NUMBER: _ClassVar[int]
    error_class: str
    fingerprint: str
    count: int
    lowest_msg_id: int
    highest_msg_id: int
    first_at: _timestamp_pb2.Timestamp
    last_at: _timestamp_pb2.Timestamp
    example: str
    def __init__(self, error_class: _Optional[str] = ..., fingerprint: _Optional[str] = ..., count: _Optional[int] = ..., lowest_msg_id: _Optional[int] = ..., highest_msg_id: _Optional[int] = ..., first_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., example: _Optional[str] = ...) -> None: ...

class GroupFailuresResponse(_message.Message):
    __slots__ = ("groups", "total_groups", "total_messages")
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_GROUPS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[FailureGroup]
    total_groups: int
    total_messages: int
    def __init__(self, groups: _Optional[_Iterable[_Union[FailureGroup, _Mapping]]] = ..., total_groups: _Optional[int] = ..., total_messages: _Optional[int] = ...) -> None: ...

class ShowMessageRequest(_message.Message):
    __slots__ = ("msg_id", "with_text")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    WITH_TEXT_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    with_text: bool
    def __init__(self, msg_id: _Optional[int] = ..., with_text: _Optional[bool] = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("number", "at", "error_class", "text", "trace_id")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    number: int
    at: _timestamp_pb2.Timestamp
    error_class: str
    text: str
    trace_id: str
    def __init__(self, number: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., error_class: _Optional[str] = ..., text: _Optional[str] = ..., trace_id: _Optional[str] = ...) -> None: ...

class JournalEntry(_message.Message):
    __slots__ = ("flid", "state_version", "kind", "tags", "at")
    FLID_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    flid: str
    state_version: int
    kind: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    at: _timestamp_pb2.Timestamp
    def __init__(self, flid: _Optional[str] = ..., state_version: _Optional[int] = ..., kind: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ReplayOptions(_message.Message):
    __slots__ = ("force", "allow_stale", "approve_removals")
    FORCE_FIELD_NUMBER: _ClassVar[int]
    ALLOW_STALE_FIELD_NUMBER: _ClassVar[int]
    APPROVE_REMOVALS_FIELD_NUMBER: _ClassVar[int]
    force: bool
    allow_stale: bool
    approve_removals: int
    def __init__(self, force: _Optional[bool] = ..., allow_stale: _Optional[bool] = ..., approve_removals: _Optional[int] = ...) -> None: ...

class ShowMessageResponse(_message.Message):
    __slots__ = ("message", "attempts", "entries", "total_entries", "identity", "options", "replayed_at", "raw_text", "raw_missing", "raw_altered", "corrected_text", "corrected_at", "corrected_by")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_AT_FIELD_NUMBER: _ClassVar[int]
    RAW_TEXT_FIELD_NUMBER: _ClassVar[int]
    RAW_MISSING_FIELD_NUMBER: _ClassVar[int]
    RAW_ALTERED_FIELD_NUMBER: _ClassVar[int]
    CORRECTED_TEXT_FIELD_NUMBER: _ClassVar[int]
    CORRECTED_AT_FIELD_NUMBER: _ClassVar[int]
    CORRECTED_BY_FIELD_NUMBER: _ClassVar[int]
    message: MessageSummary
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    entries: _containers.RepeatedCompositeFieldContainer[JournalEntry]
    total_entries: int
    identity: str
    options: ReplayOptions
    replayed_at: _timestamp_pb2.Timestamp
    raw_text: str
    raw_missing: bool
    raw_altered: bool
    corrected_text: str
    corrected_at: _timestamp_pb2.Timestamp
    corrected_by: str
    def __init__(self, message: _Optional[_Union[MessageSummary, _Mapping]] = ..., attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ..., entries: _Optional[_Iterable[_Union[JournalEntry, _Mapping]]] = ..., total_entries: _Optional[int] = ..., identity: _Optional[str] = ..., options: _Optional[_Union[ReplayOptions, _Mapping]] = ..., replayed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., raw_text: _Optional[str] = ..., raw_missing: _Optional[bool] = ..., raw_altered: _Optional[bool] = ..., corrected_text: _Optional[str] = ..., corrected_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., corrected_by: _Optional[str] = ...) -> None: ...

class ReplayRange(_message.Message):
    __slots__ = ("filter", "up_to_msg_id", "frozen_at", "force", "count")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    UP_TO_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    FROZEN_AT_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    filter: MessageFilter
    up_to_msg_id: int
    frozen_at: _timestamp_pb2.Timestamp
    force: bool
    count: int
    def __init__(self, filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., up_to_msg_id: _Optional[int] = ..., frozen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., force: _Optional[bool] = ..., count: _Optional[int] = ...) -> None: ...

class PreviewRequest(_message.Message):
    __slots__ = ("filter", "force")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    filter: MessageFilter
    force: bool
    def __init__(self, filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., force: _Optional[bool] = ...) -> None: ...

class PreviewResponse(_message.Message):
    __slots__ = ("range", "needs_force")
    RANGE_FIELD_NUMBER: _ClassVar[int]
    NEEDS_FORCE_FIELD_NUMBER: _ClassVar[int]
    range: ReplayRange
    needs_force: int
    def __init__(self, range: _Optional[_Union[ReplayRange, _Mapping]] = ..., needs_force: _Optional[int] = ...) -> None: ...

class MessageIds(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ids: _Optional[_Iterable[int]] = ...) -> None: ...

class DryRunRequest(_message.Message):
    __slots__ = ("messages", "range", "options")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    messages: MessageIds
    range: ReplayRange
    options: ReplayOptions
    def __init__(self, messages: _Optional[_Union[MessageIds, _Mapping]] = ..., range: _Optional[_Union[ReplayRange, _Mapping]] = ..., options: _Optional[_Union[ReplayOptions, _Mapping]] = ...) -> None: ...

class NewerSource(_message.Message):
    __slots__ = ("flid", "tags", "msg_id")
    FLID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    flid: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    msg_id: int
    def __init__(self, flid: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., msg_id: _Optional[int] = ...) -> None: ...

class Forecast(_message.Message):
    __slots__ = ("msg_id", "verdict", "text", "newer", "newer_flights", "flights", "removals")
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    NEWER_FIELD_NUMBER: _ClassVar[int]
    NEWER_FLIGHTS_FIELD_NUMBER: _ClassVar[int]
    FLIGHTS_FIELD_NUMBER: _ClassVar[int]
    REMOVALS_FIELD_NUMBER: _ClassVar[int]
    msg_id: int
    verdict: Verdict
    text: str
    newer: _containers.RepeatedCompositeFieldContainer[NewerSource]
    newer_flights: int
    flights: int
    removals: int
    def __init__(self, msg_id: _Optional[int] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., text: _Optional[str] = ..., newer: _Optional[_Iterable[_Union[NewerSource, _Mapping]]] = ..., newer_flights: _Optional[int] = ..., flights: _Optional[int] = ..., removals: _Optional[int] = ...) -> None: ...

class DryRunResponse(_message.Message):
    __slots__ = ("forecasts",)
    FORECASTS_FIELD_NUMBER: _ClassVar[int]
    forecasts: _containers.RepeatedCompositeFieldContainer[Forecast]
    def __init__(self, forecasts: _Optional[_Iterable[_Union[Forecast, _Mapping]]] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("admin", "messages", "range", "options", "per_second")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    messages: MessageIds
    range: ReplayRange
    options: ReplayOptions
    per_second: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., messages: _Optional[_Union[MessageIds, _Mapping]] = ..., range: _Optional[_Union[ReplayRange, _Mapping]] = ..., options: _Optional[_Union[ReplayOptions, _Mapping]] = ..., per_second: _Optional[int] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("total", "replayed", "refused", "changed", "left", "reached_msg_id", "done")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    REACHED_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    total: int
    replayed: int
    refused: int
    changed: int
    left: _containers.RepeatedCompositeFieldContainer[Forecast]
    reached_msg_id: int
    done: bool
    def __init__(self, total: _Optional[int] = ..., replayed: _Optional[int] = ..., refused: _Optional[int] = ..., changed: _Optional[int] = ..., left: _Optional[_Iterable[_Union[Forecast, _Mapping]]] = ..., reached_msg_id: _Optional[int] = ..., done: _Optional[bool] = ...) -> None: ...

class CorrectRequest(_message.Message):
    __slots__ = ("admin", "msg_id", "text")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    msg_id: int
    text: str
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., msg_id: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class CorrectResponse(_message.Message):
    __slots__ = ("forecast",)
    FORECAST_FIELD_NUMBER: _ClassVar[int]
    forecast: Forecast
    def __init__(self, forecast: _Optional[_Union[Forecast, _Mapping]] = ...) -> None: ...

class ShowHeadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShowHeadResponse(_message.Message):
    __slots__ = ("head", "open", "failing_since")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    FAILING_SINCE_FIELD_NUMBER: _ClassVar[int]
    head: MessageSummary
    open: int
    failing_since: _timestamp_pb2.Timestamp
    def __init__(self, head: _Optional[_Union[MessageSummary, _Mapping]] = ..., open: _Optional[int] = ..., failing_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RetryHeadRequest(_message.Message):
    __slots__ = ("admin", "msg_id")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    MSG_ID_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    msg_id: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., msg_id: _Optional[int] = ...) -> None: ...

class RetryHeadResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    def __init__(self, changed: _Optional[bool] = ...) -> None: ...

class SkipRequest(_message.Message):
    __slots__ = ("admin", "from_msg_id", "to_msg_id")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    FROM_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    TO_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    admin: _admin_pb2.Admin
    from_msg_id: int
    to_msg_id: int
    def __init__(self, admin: _Optional[_Union[_admin_pb2.Admin, _Mapping]] = ..., from_msg_id: _Optional[int] = ..., to_msg_id: _Optional[int] = ...) -> None: ...

class SkipResponse(_message.Message):
    __slots__ = ("skipped", "reached_msg_id", "done")
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    REACHED_MSG_ID_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    skipped: int
    reached_msg_id: int
    done: bool
    def __init__(self, skipped: _Optional[int] = ..., reached_msg_id: _Optional[int] = ..., done: _Optional[bool] = ...) -> None: ...
