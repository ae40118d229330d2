"""Reading the projection: complete or not at all (R15, INV-24). The api's side of Redis."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from msgx.domain.failure import Away, Unfit
from msgx.projection.keys import FOREIGN, FORMAT, keys
from msgx.settings import Redis

_SCRIPT: Final = Path(__file__).parent / "scripts" / "read.lua"


class Incomplete(Away):
    """Redis answers, but what it holds is not vouched for: flushed, restarted, another format,
    or never filled. The processor rebuilds it."""

    def __init__(self) -> None:
        super().__init__("the flight projection is not complete; it is being rebuilt")


class Reader:
    """A reader that any thread may use; at most `connections` reads run at once.

    What belongs to another `environment` is as good as not there; none: it is not asked.
    """

    def __init__(
        self, settings: Redis, *, connections: int, environment: str | None = None
    ) -> None:
        seconds = settings.timeout.total_seconds()
        pool = redis.BlockingConnectionPool.from_url(
            settings.url.get_secret_value(),
            max_connections=connections,
            timeout=seconds,  # for a free connection
            socket_connect_timeout=seconds,
            socket_timeout=seconds,
            retry=Retry(NoBackoff(), 0),  # the caller decides whether to ask again
            decode_responses=False,
        )
        self._client = redis.Redis(connection_pool=pool)
        self._script = self._client.register_script(_SCRIPT.read_text("utf-8"))
        names = keys(settings)
        self._keys = [names.epoch, names.flights, names.environment]
        self._environment = environment

    def read_all(self) -> list[bytes]:
        """Return every shown flight as the JSON text that the writer stored; an empty list is a
        complete projection of no flight.

        The order is that of the texts, so the same projection gives the same list.

        Raises:
            Incomplete: the epoch does not vouch for the content.
            Away: Redis does not answer in time, or refuses.
        """
        return sorted(self._ask("read"))

    def probe(self) -> None:
        """Return if `read_all` would have something complete to read; transfers no flight.

        Raises:
            Incomplete, Away: as `read_all`.
        """
        self._ask("probe")

    def read_stored(self) -> list[bytes]:
        """Return what is stored, vouched for or not: to compare it, never to show it.

        Raises:
            Away: Redis does not answer in time, or refuses.
        """
        with _answering():
            found: Any = self._client.hvals(self._keys[1])
        return cast(list[bytes], found)

    def look(self) -> None:
        """Return if Redis is nobody's, or ours.

        Raises:
            Unfit: it is another installation's (R50).
            Away: Redis does not answer.
        """
        with _answering():
            owner: Any = self._client.get(self._keys[2])
        if owner is not None and owner.decode("utf-8", "replace") != self._environment:
            raise Unfit(FOREIGN)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._client.connection_pool.disconnect()

    def _ask(self, what: str) -> list[bytes]:
        with _answering():
            found: Any = self._script(
                keys=self._keys, args=[FORMAT, what, self._environment or ""]
            )
        if found is None:
            raise Incomplete
        return cast(list[bytes], found)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise Away("Redis does not answer") from error
    except redis.RedisError as error:
        raise Away("Redis refuses to read the flight projection") from error
