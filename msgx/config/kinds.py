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


def _iso(given: Any) -> Any:
    if isinstance(given, timedelta) or (isinstance(given, str) and given.startswith("P")):
        return given
    raise ValueError("is not a duration of ISO 8601, such as PT5S")


Duration = Annotated[timedelta, BeforeValidator(_iso)]
Positive = Annotated[Duration, Field(gt=timedelta())]
Bytes = Annotated[int, Field(ge=1), Unit("bytes")]
Events = Annotated[int, Field(ge=1), Unit("events")]
Flights = Annotated[int, Field(ge=1), Unit("flights")]
Ids = Annotated[int, Field(ge=1), Unit("ids")]
Messages = Annotated[int, Field(ge=1), Unit("messages")]
Partitions = Annotated[int, Field(ge=1), Unit("partitions")]
Copies = Annotated[int, Field(ge=1), Unit("copies")]
Rows = Annotated[int, Field(ge=1), Unit("rows")]
Tries = Annotated[int, Field(ge=1), Unit("tries")]
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


def _places(given: str) -> str:
    for one in given.split(","):
        _place(one.strip())
    return given


HostPort = Annotated[str, AfterValidator(_place)]
HostPorts = Annotated[str, AfterValidator(_places)]
Code = Annotated[str, Field(pattern=r"^[A-Z0-9]{1,8}$")]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Token = Annotated[SecretStr, Field(min_length=16)]
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
