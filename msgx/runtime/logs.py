"""Logs: one event, one JSON line on standard error, ids as fields. Never a payload."""

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from msgx.domain.failure import clean

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
}


class JsonLines(logging.Formatter):
    """One JSON object a line; extra fields stand beside the message."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of `record`; control characters of hostile text cannot break it."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(
                timespec="milliseconds"
            ),
            "level": record.levelname,
            "service": self._service,
            "logger": record.name,
            "event": clean(record.getMessage()),
        }
        line |= {
            key: _harmless(value) for key, value in vars(record).items() if key not in _STANDARD
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["trace"] = "\n".join(_trace(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False)


def _harmless(value: object) -> object:
    match value:
        case None | bool() | int() | float():
            return value
        case dict():
            return {str(key): _harmless(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_harmless(one) for one in value]
        case _:
            return clean(str(value))


def _trace(raised: BaseException) -> Iterator[str]:
    """Yield what was raised and where, from last to first. Not its words: those of a database
    quote the row that it refused."""
    error: BaseException | None = raised
    while error is not None:
        state = getattr(error, "sqlstate", None)
        yield type(error).__name__ + (f" ({state})" if state else "")
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            yield f"  {frame.filename}:{frame.lineno} {frame.name}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def configure(service: str, level: str) -> None:
    """Send every log line of this process to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(service))
    logging.basicConfig(level=level, handlers=[handler], force=True)
