"""Where the services answer and what admits to them: options, MSGXCTL_ variables, a file."""

import os
import re
import ssl
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

from msgxctl.failure import misused

PREFIX: Final = "MSGXCTL_"
_SHORTEST_TIMEOUT: Final = 0.1
_LONGEST_TIMEOUT: Final = 3600.0
_MOST_BYTES: Final = 64 * 1024 * 1024
_ADDRESS: Final = re.compile(r"\S*[^\s:]:[0-9]{1,5}|unix:\S+")


class Peer(StrEnum):
    """Who serves operators over gRPC: the name of the option, too."""

    INTAKE = "intake"
    PROCESSOR = "processor"
    REFDATA = "refdata"
    DISPATCHER = "dispatcher"
    API = "api-control"

    @property
    def service(self) -> str:
        """Return the service's own name."""
        return self.value.removesuffix("-control")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the command line, the environment and the file say, in this order."""

    intake: str | None = None  # HOST:PORT; several separated by commas: the leading one acts
    processor: str | None = None
    refdata: str | None = None
    dispatcher: str | None = None
    api_control: str | None = None
    api: str = "http://127.0.0.1:8080"
    token_file: str | None = None
    tls: bool = False
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    operator: str | None = None
    timeout: float = 30.0

    def addresses(self, peer: Peer) -> tuple[str, ...]:
        """Return where instances of `peer` answer; none: it is not known."""
        given = getattr(self, peer.value.replace("-", "_"))
        return tuple(one for one in (given or "").replace(",", " ").split())

    @property
    def secure(self) -> bool:
        """Tell whether the control addresses speak TLS."""
        return self.tls or any((self.ca, self.certificate, self.key))


def settle(given: Mapping[str, object], config: Path | None) -> Place:
    """Return the place: `given` by options and variables, completed from the file.

    Raises:
        Failure: a key is unknown or its value is wrong.
    """
    told = dict(_file(config)) | {name: one for name, one in given.items() if one is not None}
    place = Place(**told)  # type: ignore[arg-type]  # judged by _file, and by the options
    if not _SHORTEST_TIMEOUT <= place.timeout <= _LONGEST_TIMEOUT:
        misused(f"timeout must be from {_SHORTEST_TIMEOUT:g} to {_LONGEST_TIMEOUT:g} seconds")
    if (place.certificate is None) != (place.key is None):
        misused("a client certificate and its key go together")
    for peer in Peer:
        if not all(map(_ADDRESS.fullmatch, place.addresses(peer))):
            misused(f"the address of {peer} must look like HOST:PORT")
    return place


def token(place: Place) -> str | None:
    """Return the bearer token, which is never an option: other users see command lines.

    Raises:
        Failure: the file cannot be read, or a token holds what no header may.
    """
    told = os.environ.get(f"{PREFIX}TOKEN") or None
    if told is None and place.token_file is not None:
        told = read(place.token_file, "the token file").decode("ascii", "replace").strip()
    if told is not None and not (told.isascii() and told.isprintable()):
        misused("the token holds characters that no header may hold")
    return told or None


def tls(place: Place) -> ssl.SSLContext:
    """Return what is believed, and what is shown.

    Raises:
        Failure: the files do not fit.
    """
    try:
        context = ssl.create_default_context(cafile=_own(place.ca))
        if place.certificate is not None:
            certificate, key = _own(place.certificate), _own(place.key)
            context.load_cert_chain(str(certificate), key, password=_no_password)
    except (OSError, ValueError) as error:
        misused(f"the certificates cannot be used: {reason(error)}")
    return context


def _own(path: str | None) -> Path | None:
    return None if path is None else Path(path).expanduser()


def _no_password() -> str:
    """Give the wrong password, where OpenSSL would ask the terminal."""
    return ""


def read(path: str | Path, what: str) -> bytes:
    """Return what a file holds.

    Raises:
        Failure: it cannot be read, or has no end.
    """
    try:
        with Path(path).expanduser().open("rb") as file:
            return bounded(file, f"{what} {shown(path)}")
    except (OSError, ValueError) as error:
        misused(f"{what} {shown(path)} cannot be read: {reason(error)}")


def bounded(file: IO[bytes], what: str) -> bytes:
    """Return all that comes.

    Raises:
        Failure: it is more than any message, or anything else that is read here.
    """
    held = file.read(_MOST_BYTES + 1)
    if len(held) > _MOST_BYTES:
        misused(f"{what} is longer than any message: {_MOST_BYTES} bytes")
    return held


def shown(path: str | Path) -> str:
    """Return a path as it may be printed."""
    return "".join(c if c.isprintable() else "?" for c in str(path))


def reason(error: Exception) -> str:
    """Return why the system refused, in its own words."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    told = error.strerror if isinstance(error, OSError) else None
    return (told or type(error).__name__).lower()


def _file(config: Path | None) -> Iterator[tuple[str, object]]:
    """Yield what the file says: the one that is named, else the user's own if there is one."""
    path = config
    if path is None:
        home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
        path = Path(home) / "msgxctl.toml"
        if not path.is_file():
            return
    try:
        told = tomllib.loads(read(path, "the configuration").decode())
    except ValueError:
        misused(f"the configuration {shown(path)} is not TOML in UTF-8")
    kinds = {field.name: field.type for field in fields(Place)}
    for key, value in told.items():
        name = key.replace("-", "_")
        if name not in kinds:
            misused(f"the configuration {shown(path)} has an unknown key, {shown(key)[:40]}")
        if not _fits(value, kinds[name]):
            misused(f"the configuration {shown(path)} has a wrong value for {key}")
        yield name, value


def _fits(value: object, kind: object) -> bool:
    if kind is bool:
        return isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)
