from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Admin(_message.Message):
    __slots__ = ("operator", "reason")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    operator: str
    reason: str
    def __init__(self, operator: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...
