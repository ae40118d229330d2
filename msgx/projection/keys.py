"""Names of the projection's keys, and the epoch that marks it complete (R15, R30)."""

from dataclasses import dataclass
from typing import Final

from msgx.settings import Redis

FOREIGN: Final = (
    "the Redis of MSGX_REDIS__URL belongs to another MSGX_ENVIRONMENT than this process"
)
"""Why a process must not go on (R50)."""

FORMAT: Final = 1
"""Version of keys and values; another one makes the processor rebuild."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one projection."""

    flights: str  # hash: FLID -> JSON of the whole flight; shown flights only
    versions: str  # hash: FLID -> state version last written, removed flights too
    epoch: str  # "<run_id>:<FORMAT>" of the server that holds a complete projection
    term: str  # of the processor that writes
    environment: str  # whose projection this is (R50)


def keys(settings: Redis) -> Keys:
    """Return the keys that `settings` names."""
    flights = settings.prefix + settings.key
    return Keys(
        flights,
        f"{flights}:versions",
        f"{flights}:epoch",
        f"{flights}:term",
        f"{flights}:environment",
    )
