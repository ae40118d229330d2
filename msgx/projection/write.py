"""The writer's side of the projection: monotonic puts and the one atomic switch (R15). Owner:
processor."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import redis

from msgx.domain.failure import Away, Unfit
from msgx.projection.keys import FOREIGN, FORMAT, keys
from msgx.settings import Redis as RedisSettings
from msgx.store.service_term import Deposed

_CHUNK: Final = 500
_SCRIPTS: Final = Path(__file__).parent / "scripts"


class Incomplete(RuntimeError):
    """Redis holds no complete projection of ours: flushed, restarted, failed over. Rebuild
    it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One flight as the projection shows it; no JSON removes it."""

    flid: str
    state_version: int
    json: str | None


class Projection:
    """The Redis side of one processor. Not thread-safe."""

    def __init__(self, settings: RedisSettings, environment: str) -> None:
        self._environment = environment
        seconds = settings.timeout.total_seconds()
        self._redis = redis.Redis.from_url(
            settings.url.get_secret_value(),
            decode_responses=True,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=None,
            retry_on_timeout=False,
        )
        self._keys = keys(settings)
        self._put = self._script("put")
        self._check = self._script("check")
        self._claim = self._script("claim")
        self._switch = self._script("switch")

    def put(self, fields: Iterable[Field], *, term: int) -> None:
        """Show or remove flights; a field that is newer there stays.

        Raises:
            Incomplete: the projection must be rebuilt first.
            Deposed: a newer term writes.
            Away: Redis does not answer, or refuses writes.
        """
        names = self._keys
        arguments: list[str | int] = [term, FORMAT]
        for field in fields:
            arguments += [field.flid, field.state_version, field.json or ""]
        with _answering():
            answer = self._put(
                keys=[names.flights, names.versions, names.epoch, names.term], args=arguments
            )
        _judge(answer)

    def check(self, *, term: int) -> None:
        """Return if Redis holds a complete projection written under `term`.

        Raises:
            Unfit: it is another installation's (R50).
            Incomplete, Deposed, Away: as `put`.
        """
        with _answering():
            answer = self._check(
                keys=[self._keys.epoch, self._keys.term, self._keys.environment],
                args=[term, FORMAT, self._environment],
            )
        _judge(answer)

    def replace(
        self, shown: Iterable[Field], versions: Mapping[str, int], *, term: int
    ) -> None:
        """Fill a new key with every shown flight and switch to it at once; mark it complete.

        `versions` holds every stored flight, deleted ones and codeshares too. Readers see the
        old set or the new one (B88).

        Raises: as `check`.
        """
        names = self._keys
        new_flights, new_versions = f"{names.flights}:new", f"{names.versions}:new"
        with _answering():
            answer = self._claim(
                keys=[names.term, names.environment], args=[term, self._environment]
            )
            _judge(answer)
            self._redis.delete(new_flights, new_versions)
            fields = iter(shown)
            while chunk := list(islice(fields, _CHUNK)):
                items = [item for field in chunk for item in (field.flid, field.json or "")]
                self._redis.hset(new_flights, items=items)
            numbers = iter(versions.items())
            while part := list(islice(numbers, _CHUNK)):
                self._redis.hset(new_versions, items=[item for pair in part for item in pair])
            answer = self._switch(
                keys=[
                    names.flights,
                    names.versions,
                    names.epoch,
                    names.term,
                    new_flights,
                    new_versions,
                ],
                args=[term, FORMAT],
            )
        _judge(answer)

    def look(self) -> None:
        """Return if Redis is nobody's, or ours.

        Raises:
            Unfit: it is another installation's (R50).
            Away: Redis does not answer.
        """
        with _answering():
            owner = self._redis.get(self._keys.environment)
        if owner not in (None, self._environment):
            raise Unfit(FOREIGN)

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _script(self, name: str) -> "redis.commands.core.Script":
        return self._redis.register_script((_SCRIPTS / f"{name}.lua").read_text("utf-8"))


@contextmanager
def _answering() -> Iterator[None]:
    """Turn every refusal of the server into INFRA: READONLY, LOADING, OOM, time-outs (R04,
    B91)."""
    try:
        yield
    except redis.RedisError as error:
        raise Away(f"Redis failed ({type(error).__name__})") from error


def _judge(answer: object) -> None:
    if answer == "INCOMPLETE":
        raise Incomplete("Redis holds no complete projection")
    if answer == "FOREIGN":
        raise Unfit(FOREIGN)
    if answer == "DEPOSED":
        raise Deposed("a newer processor writes the projection")
