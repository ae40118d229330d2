"""Redis databases for tests: a logical one of its own, reserved in database 0."""

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit, urlunsplit

import redis

from tests.support.waiting import PATIENCE_SECONDS

RESERVED_SECONDS = (
    4 * 3600
)  # longer than any module; what a killed session reserved ends by itself


@contextmanager
def database(server: str) -> Iterator[str]:
    """Reserve an empty logical database, yield its URL, and empty it at the end."""
    token = secrets.token_hex(8)
    with closing(
        redis.Redis.from_url(server, socket_timeout=PATIENCE_SECONDS, decode_responses=True)
    ) as admin:
        number = _reserve(admin, token)
        url = urlunsplit(urlsplit(server)._replace(path=f"/{number}"))
        with closing(redis.Redis.from_url(url, socket_timeout=PATIENCE_SECONDS)) as own:
            own.flushdb()
            try:
                yield url
            finally:
                own.flushdb()
                admin.delete(_key(number))


def _reserve(admin: "redis.Redis", token: str) -> int:
    config = admin.config_get("databases")
    for number in range(1, int(config["databases"] or 16)):
        if admin.set(_key(number), token, nx=True, ex=RESERVED_SECONDS):
            return number
    raise RuntimeError("every logical database of the Redis server is in use")


def _key(number: int) -> str:
    return f"msgx-test:database:{number}"
