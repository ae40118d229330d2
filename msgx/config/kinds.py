"""What a value of a parameter may be, and how it is written."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from msgx.config.parameters import Unit
from msgx.domain.flop import FlopGroup

_ADDRESS: Final = re.compile(r"(?:\[[0-9a-fA-F:]+\]|[^\s:\[\]]+):(?P<port>[0-9]{1,5})")
_HIGHEST_PORT: Final = 65535
_MOST: Final = 2**31 - 1
_MOST_EVENTS: Final = 100_000  # as many as the producer's queue takes
_SHORTEST_TOKEN: Final = 16
_LONGEST: Final = timedelta(days=36_500)  # threads cannot rest for three times as long
_LONGEST_GLANCE: Final = timedelta(seconds=1)  # meanwhile no stop is seen, no session beats
_LONGEST_TIMEOUT: Final = timedelta(days=1)  # servers count milliseconds in 31 bits
_SHORTEST_TIMEOUT: Final = timedelta(milliseconds=1)  # to them 0 is no limit


def _iso(given: Any) -> Any:
    if isinstance(given, timedelta) or (isinstance(given, str) and given.startswith("P")):
        return given
    raise ValueError("is not a duration of ISO 8601, such as PT5S")


Duration = Annotated[timedelta, BeforeValidator(_iso), Field(le=_LONGEST)]
Positive = Annotated[Duration, Field(gt=timedelta())]
Glance = Annotated[Positive, Field(le=_LONGEST_GLANCE)]
Timeout = Annotated[Duration, Field(ge=_SHORTEST_TIMEOUT, le=_LONGEST_TIMEOUT)]
Bytes = Annotated[int, Field(ge=1, le=_MOST), Unit("bytes")]
Events = Annotated[int, Field(ge=1, le=_MOST_EVENTS), Unit("events")]
Flights = Annotated[int, Field(ge=1, le=_MOST), Unit("flights")]
Ids = Annotated[int, Field(ge=1, le=_MOST), Unit("ids")]
Messages = Annotated[int, Field(ge=1, le=_MOST), Unit("messages")]
Partitions = Annotated[int, Field(ge=1, le=_MOST), Unit("partitions")]
Copies = Annotated[int, Field(ge=1, le=_MOST), Unit("copies")]
Rows = Annotated[int, Field(ge=1, le=_MOST), Unit("rows")]
Tries = Annotated[int, Field(ge=1, le=_MOST), Unit("tries")]
Share = Annotated[float, Field(gt=0, le=1)]


def _words(given: Any) -> Any:
    return given.replace(",", " ").split() if isinstance(given, str) else given


def _zone(given: Any) -> Any:
    try:
        return ZoneInfo(given) if isinstance(given, str) else given
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("is not a known time zone") from error


def _unless_empty(given: Any) -> Any:
    return given or None


def _place(given: str) -> str:
    found = _ADDRESS.fullmatch(given)
    if found is None or int(found["port"]) > _HIGHEST_PORT:
        raise ValueError("must look like host:port")
    return given


def _place_or_socket(given: str) -> str:
    return given if given.startswith("unix:/") else _place(given)


def _places(given: str) -> str:
    for one in given.split(","):
        _place(one.strip())
    return given


def _sendable(given: SecretStr) -> SecretStr:
    told = given.get_secret_value()
    if len(told) < _SHORTEST_TOKEN:
        raise ValueError(f"needs {_SHORTEST_TOKEN} characters at least")
    if not (told.isascii() and told.isprintable() and told == told.strip()):
        raise ValueError("takes printable ASCII, without blanks around it")
    return given


HostPort = Annotated[str, AfterValidator(_place)]
Listening = Annotated[str, AfterValidator(_place_or_socket)]
HostPorts = Annotated[str, AfterValidator(_places)]
Code = Annotated[str, Field(pattern=r"^[A-Z0-9]{1,8}$")]
Topic = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")]
TopicPrefix = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,48}$")]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Token = Annotated[SecretStr, AfterValidator(_sendable)]
TokenOrNone = Annotated[Token | None, BeforeValidator(_unless_empty)]
FileOrNone = Annotated[Path | None, BeforeValidator(_unless_empty)]
AddressOrNone = Annotated[HostPort | None, BeforeValidator(_unless_empty)]
_Http = Annotated[str, Field(pattern=r"^https?://[^\s/@]+/?$")]
HttpOrNone = Annotated[_Http | None, BeforeValidator(_unless_empty)]
Zone = Annotated[ZoneInfo, BeforeValidator(_zone)]
Ladder = Annotated[tuple[Positive, ...], BeforeValidator(_words)]
Codes = Annotated[frozenset[str], BeforeValidator(_words)]
Tag = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,15}$")]
Groups = Annotated[frozenset[FlopGroup], BeforeValidator(_words)]
