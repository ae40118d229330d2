"""Time-outs that no machine runs into by being slow, or by standing still for a while: for
tests whose subject is no time-out."""

from datetime import timedelta
from typing import Final

from pydantic import SecretStr

from msgx.settings import Database, Leadership, Mailbox

PATIENT: Final = timedelta(minutes=2)
LEADERSHIP: Final = Leadership(timeout=PATIENT)
WAITS: Final = dict.fromkeys(("connect_timeout", "statement_timeout", "lock_timeout"), PATIENT)
"""Of a database."""


def database(dsn: str) -> Database:
    """Return the settings of a database that is waited for."""
    return Database(dsn=SecretStr(dsn), **WAITS)


def mailbox(url: str) -> Mailbox:
    """Return the settings of a mailbox that is waited for."""
    return Mailbox(url=SecretStr(url), timeout=PATIENT)
