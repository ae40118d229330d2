"""Secrets that must have a form: connection strings. What is said of a wrong one never shows
it."""

from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, SecretStr

_MAILBOX: Final = "must look like mysql://user:password@host:port/schema"
_REDIS: Final = "must look like redis://user:password@host:port/number"
_DATABASE: Final = "must be a connection string of libpq"
_PORT: Final = 3306


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the mailbox is, and as whom we come."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    schema: str


def address(url: str) -> Address:
    """Read `url`; user, password and schema may be percent-encoded.

    Raises:
        ValueError: it has not the form; the text never shows the URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        raise ValueError(_MAILBOX) from None
    schema = unquote(parts.path.removeprefix("/"))
    if parts.scheme != "mysql" or not host or not parts.username or not schema:
        raise ValueError(_MAILBOX)
    if parts.query or parts.fragment or "/" in parts.path.removeprefix("/"):
        raise ValueError(_MAILBOX)
    return Address(
        host=host,
        port=port,
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
        schema=schema,
    )


def _mailbox(given: SecretStr) -> SecretStr:
    address(given.get_secret_value())
    return given


def _redis(given: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(given.get_secret_value())
        fits = parts.port != 0
    except ValueError:
        raise ValueError(_REDIS) from None
    number = parts.path.strip("/")
    if (
        not fits
        or parts.scheme not in ("redis", "rediss")
        or not parts.hostname
        or (number and not number.isdecimal())
    ):
        raise ValueError(_REDIS)
    return given


def _database(given: SecretStr) -> SecretStr:
    try:
        told = conninfo_to_dict(given.get_secret_value())
    except psycopg.ProgrammingError:
        raise ValueError(_DATABASE) from None
    if not told:  # libpq would take what the surroundings say
        raise ValueError(_DATABASE)
    return given


MailboxUrl = Annotated[SecretStr, AfterValidator(_mailbox)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis)]
DatabaseDsn = Annotated[SecretStr, AfterValidator(_database)]
